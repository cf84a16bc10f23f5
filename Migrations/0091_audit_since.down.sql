-- Counts the rows themselves: no row is the good answer. Reads every job and delivery of the run, once.
CREATE OR REPLACE FUNCTION pushfleet.audit(which bigint)
RETURNS TABLE (problem text, shard smallint, batch_id bigint, expected bigint, found bigint)
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
AS $$
    WITH
    outcomes AS MATERIALIZED (
        SELECT d.shard, d.batch_id, d.outcome, count(*) AS n
        FROM pushfleet.delivery d
        WHERE d.run_id = which
        GROUP BY d.shard, d.batch_id, d.outcome
    ),
    jobs AS MATERIALIZED (
        SELECT j.shard, j.batch_id, count(*) AS n, count(DISTINCT j.ordinal) AS ordinals
        FROM pushfleet.job j
        WHERE j.run_id = which
        GROUP BY j.shard, j.batch_id
    )
    SELECT 'jobs of a batch', b.shard, b.id, b.size::bigint, coalesce(jobs.n, 0)
    FROM pushfleet.batch b
    LEFT JOIN jobs ON jobs.shard = b.shard AND jobs.batch_id = b.id
    WHERE b.run_id = which
        AND b.bucket_id IN (SELECT bucket.id FROM pushfleet.bucket)
        AND (coalesce(jobs.n, 0) <> b.size OR coalesce(jobs.ordinals, 0) <> b.size)
    UNION ALL
    SELECT 'deliveries of a batch, outcome ' || t.outcome, b.shard, b.id, t.n::bigint, coalesce(outcomes.n, 0)
    FROM pushfleet.batch b
    CROSS JOIN LATERAL (
        VALUES
            (1, b.delivered),
            (2, b.failed),
            (3, b.unregistered),
            (4, b.expired),
            (5, b.cancelled),
            (6, b.skipped),
            (7, b.in_doubt)
    ) t (outcome, n)
    LEFT JOIN outcomes
        ON outcomes.shard = b.shard AND outcomes.batch_id = b.id AND outcomes.outcome = t.outcome
    WHERE b.run_id = which AND coalesce(outcomes.n, 0) <> t.n
    UNION ALL
    SELECT 'deliveries without a batch', outcomes.shard, outcomes.batch_id, 0, outcomes.n
    FROM outcomes
    WHERE NOT EXISTS (
        SELECT FROM pushfleet.batch b
        WHERE b.shard = outcomes.shard AND b.id = outcomes.batch_id AND b.run_id = which
    )
    UNION ALL
    SELECT 'number ' || d.number || ' has several outcomes', min(d.shard), min(d.batch_id), 1, count(*)
    FROM pushfleet.delivery d
    WHERE d.run_id = which
    GROUP BY d.number
    HAVING count(*) > 1
    UNION ALL
    SELECT 'outcomes and targeted, all open work being done', a.shard, NULL, a.targeted::bigint, total.n
    FROM pushfleet.accounting_shard a
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(outcomes.n), 0)::bigint AS n FROM outcomes WHERE outcomes.shard = a.shard
    ) total
    WHERE a.run_id = which AND a.pending + a.leased + a.retrying = 0 AND a.targeted <> total.n
$$;

DROP INDEX pushfleet.batch_open;
REVOKE UPDATE (expanded) ON pushfleet.run_progress FROM pushfleet_janitor;

-- Counts the rows themselves: no row is the good answer. Reads every job and delivery of the run, once.
-- Nothing of a run is older than the run, or younger than its end. The index on time finds what lies between, also before
-- the planner knows of it; an audit takes no parallel workers from whoever waits for an answer.
CREATE OR REPLACE FUNCTION pushfleet.audit(which bigint)
RETURNS TABLE (problem text, shard smallint, batch_id bigint, expected bigint, found bigint)
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
SET jit = off
AS $$
    WITH
    span AS MATERIALIZED (
        -- With seconds to spare: for a clock that was set, and for what should not be there.
        SELECT run.created_at - interval '5 s' AS since, coalesce(run.closed_at + interval '10 s', 'infinity') AS upto
        FROM pushfleet.run
        WHERE run.id = which
    ),
    counted AS MATERIALIZED (
        -- In one pass: by batch and outcome, and of the numbers only those that stand twice.
        SELECT d.shard, d.batch_id, d.outcome, d.number, count(*) AS n, min(d.shard) AS one_shard,
            min(d.batch_id) AS one_batch
        FROM pushfleet.delivery d
        WHERE d.run_id = which AND d.at >= (SELECT span.since FROM span) AND d.at < (SELECT span.upto FROM span)
        GROUP BY GROUPING SETS ((d.shard, d.batch_id, d.outcome), (d.number))
        HAVING grouping(d.number) = 1 OR count(*) > 1
    ),
    outcomes AS (
        SELECT counted.shard, counted.batch_id, counted.outcome, counted.n FROM counted WHERE counted.number IS NULL
    ),
    jobs AS MATERIALIZED (
        SELECT b.shard, b.id AS batch_id, own.n, own.ordinals
        FROM pushfleet.batch b
        CROSS JOIN LATERAL (
            SELECT count(*) AS n, count(DISTINCT j.ordinal) AS ordinals
            FROM pushfleet.job j
            WHERE j.shard = b.shard AND j.bucket_id = b.bucket_id AND j.batch_id = b.id AND j.run_id = which
        ) own
        WHERE b.run_id = which
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
    SELECT 'number ' || counted.number || ' has several outcomes', counted.one_shard, counted.one_batch, 1, counted.n
    FROM counted
    WHERE counted.number IS NOT NULL
    UNION ALL
    SELECT 'outcomes and targeted, all open work being done', a.shard, NULL, a.targeted::bigint, total.n
    FROM pushfleet.accounting_shard a
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(outcomes.n), 0)::bigint AS n FROM outcomes WHERE outcomes.shard = a.shard
    ) total
    WHERE a.run_id = which AND a.pending + a.leased + a.retrying = 0 AND a.targeted <> total.n
$$;

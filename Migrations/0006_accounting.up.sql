-- why: says at any instant where every job is, and shows where two countings differ
-- locks: none; everything here is new
-- safe with workers running: yes
-- lowest binary: 1

-- Per shard and run, from the tallies of batches. Waiting notifications count as pending of their standing run.
CREATE VIEW pushfleet.accounting_shard AS
SELECT
    progress.shard,
    progress.run_id,
    progress.targeted + tally.collected + queue.waiting AS targeted,
    tally.expanded + queue.waiting AS expanded,
    tally.pending + queue.waiting AS pending,
    tally.leased,
    tally.moved - tally.returned AS retrying,
    tally.delivered,
    tally.failed,
    tally.unregistered,
    tally.expired,
    tally.cancelled,
    tally.skipped,
    tally.in_doubt,
    tally.repeat_bound
FROM pushfleet.run
JOIN pushfleet.run_progress progress ON progress.run_id = run.id
CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(b.size) FILTER (WHERE b.origin = 0), 0) AS expanded,
        coalesce(sum(b.collected), 0) AS collected,
        coalesce(sum(b.size) FILTER (WHERE b.origin = 1), 0) AS returned,
        coalesce(sum(b.moved), 0) AS moved,
        coalesce(sum(b.size - b.settled) FILTER (WHERE b.state IN (0, 5)), 0) AS pending,
        coalesce(sum(b.size - b.settled) FILTER (WHERE b.state = 1), 0) AS leased,
        coalesce(sum(b.delivered), 0) AS delivered,
        coalesce(sum(b.failed), 0) AS failed,
        coalesce(sum(b.unregistered), 0) AS unregistered,
        coalesce(sum(b.expired), 0) AS expired,
        coalesce(sum(b.cancelled), 0) AS cancelled,
        coalesce(sum(b.skipped), 0) AS skipped,
        coalesce(sum(b.in_doubt), 0) AS in_doubt,
        coalesce(sum(b.may_repeat), 0) AS repeat_bound
    FROM pushfleet.batch b
    WHERE b.shard = progress.shard AND b.run_id = progress.run_id
) tally
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting
    FROM pushfleet.notification n
    WHERE n.shard = progress.shard AND n.run_id = progress.run_id
) queue
WHERE run.closed_at IS NULL;
COMMENT ON VIEW pushfleet.accounting_shard IS 'Where the jobs of each open run are, by shard, counted from batches.';

CREATE VIEW pushfleet.accounting AS
SELECT
    run_id,
    sum(targeted) AS targeted,
    sum(pending) AS pending,
    sum(leased) AS leased,
    sum(retrying) AS retrying,
    sum(delivered) AS delivered,
    sum(failed) AS failed,
    sum(unregistered) AS unregistered,
    sum(expired) AS expired,
    sum(cancelled) AS cancelled,
    sum(skipped) AS skipped,
    sum(in_doubt) AS in_doubt,
    sum(repeat_bound) AS repeat_bound
FROM pushfleet.accounting_shard
GROUP BY run_id;
COMMENT ON VIEW pushfleet.accounting IS
    'Where the jobs of each open run are: targeted = pending + leased + retrying + the seven outcomes.';

-- Two countings made at different places: what pages selected against what they wrote, what left for retry against the
-- rows there. Tables are compared by shard and run first and summed after: one day each shard has its own snapshot.
CREATE VIEW pushfleet.accounting_violation AS
SELECT
    a.shard, a.run_id, a.targeted, a.expanded, a.pending, a.leased, a.retrying, a.delivered, a.failed, a.unregistered,
    a.expired, a.cancelled, a.skipped, a.in_doubt, a.repeat_bound, queue.waiting AS retry_rows
FROM pushfleet.accounting_shard a
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting
    FROM pushfleet.retry
    WHERE retry.shard = a.shard AND retry.run_id = a.run_id
) queue
WHERE a.targeted <> a.pending + a.leased + a.retrying + a.delivered + a.failed + a.unregistered + a.expired
        + a.cancelled + a.skipped + a.in_doubt
    OR a.targeted <> a.expanded
    OR a.retrying <> queue.waiting;
COMMENT ON VIEW pushfleet.accounting_violation IS 'Always empty: a row is a defect.';

-- Counts the rows themselves: no row is the good answer. Reads every job and delivery of the run, once.
CREATE FUNCTION pushfleet.audit(which bigint)
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
COMMENT ON FUNCTION pushfleet.audit IS 'Counts the rows of a run against its batches: a row is a defect.';

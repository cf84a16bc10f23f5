-- why: the planner counted the waiting retries anew for each open run: 0.25 s for sixty runs and 50,000 retries
-- locks: none; one view
-- safe with workers running: yes
-- lowest binary: 1

CREATE OR REPLACE VIEW pushfleet.accounting_violation AS
WITH queue AS MATERIALIZED (
    SELECT retry.shard, retry.run_id, count(*) AS waiting
    FROM pushfleet.retry
    GROUP BY retry.shard, retry.run_id
)
SELECT
    a.shard, a.run_id, a.targeted, a.expanded, a.pending, a.leased, a.retrying, a.delivered, a.failed, a.unregistered,
    a.expired, a.cancelled, a.skipped, a.in_doubt, a.repeat_bound, coalesce(queue.waiting, 0) AS retry_rows
FROM pushfleet.accounting_shard a
LEFT JOIN queue ON queue.shard = a.shard AND queue.run_id = a.run_id
WHERE a.targeted <> a.pending + a.leased + a.retrying + a.delivered + a.failed + a.unregistered + a.expired
        + a.cancelled + a.skipped + a.in_doubt
    OR a.targeted <> a.expanded
    OR a.retrying <> coalesce(queue.waiting, 0);

-- why: reports by run are worked out run by run, so that the newest runs cost what they are, not what all runs are
-- locks: the views, for a moment
-- safe with workers running: yes
-- lowest binary: 1

CREATE OR REPLACE VIEW pushfleet_report.outcomes AS
SELECT run.id AS run_id, pushfleet_report.transport_name(route.transport) AS transport,
    CASE route.transport WHEN 1 THEN 'ios' WHEN 2 THEN 'android' WHEN 3 THEN 'web' END AS platform,
    t.asked AS language_asked, t.served AS language_served, t.variant, t.content_version,
    pushfleet_report.outcome_name(t.outcome) AS outcome, reason.name AS reason, t.jobs
FROM pushfleet.run
CROSS JOIN LATERAL (
    SELECT c.route_id, c.asked, c.served, c.variant, c.content_version, c.outcome, c.reason, sum(c.n)::bigint AS jobs
    FROM pushfleet.tally c
    WHERE c.run_id = run.id
    GROUP BY c.route_id, c.asked, c.served, c.variant, c.content_version, c.outcome, c.reason
) t
JOIN pushfleet.reason ON reason.code = t.reason
LEFT JOIN pushfleet.route ON route.id = t.route_id
WHERE NOT run.is_test;

-- A class is reported by its upper bound, so a percentile is at most a fifth too high.
CREATE OR REPLACE VIEW pushfleet_report.latency AS
SELECT run.id AS run_id, t.transport, t.kind, t.jobs, t.p50_ms, t.p90_ms, t.p95_ms, t.p99_ms
FROM pushfleet.run
CROSS JOIN LATERAL (
    SELECT classes.transport, classes.kind, sum(classes.n)::bigint AS jobs,
        min(classes.bound) FILTER (WHERE classes.below >= 0.5 * classes.whole) AS p50_ms,
        min(classes.bound) FILTER (WHERE classes.below >= 0.9 * classes.whole) AS p90_ms,
        min(classes.bound) FILTER (WHERE classes.below >= 0.95 * classes.whole) AS p95_ms,
        min(classes.bound) FILTER (WHERE classes.below >= 0.99 * classes.whole) AS p99_ms
    FROM (
        SELECT c.transport, c.kind, c.n, round(2 ^ (c.class / 4.0)) AS bound,
            sum(c.n) OVER (PARTITION BY c.transport, c.kind ORDER BY c.class) AS below,
            sum(c.n) OVER (PARTITION BY c.transport, c.kind) AS whole
        FROM (
            SELECT pushfleet_report.transport_name(route.transport) AS transport,
                CASE l.kind WHEN 1 THEN 'due to sent' ELSE 'sent to answered' END AS kind, l.class, sum(l.n) AS n
            FROM pushfleet.tally_latency l
            LEFT JOIN pushfleet.route ON route.id = l.route_id
            WHERE l.run_id = run.id
            GROUP BY route.transport, l.kind, l.class
        ) c
    ) classes
    GROUP BY classes.transport, classes.kind
) t
WHERE NOT run.is_test;

CREATE OR REPLACE VIEW pushfleet_report.retries AS
SELECT run.id AS run_id, t.transport, t.jobs, t.attempts, t.retries, t.in_doubt
FROM pushfleet.run
CROSS JOIN LATERAL (
    SELECT pushfleet_report.transport_name(route.transport) AS transport, sum(c.n)::bigint AS jobs,
        sum(c.attempts)::bigint AS attempts,
        greatest(0, sum(c.attempts) - sum(c.n) FILTER (WHERE c.attempts > 0))::bigint AS retries,
        coalesce(sum(c.n) FILTER (WHERE c.outcome = 7), 0)::bigint AS in_doubt
    FROM pushfleet.tally c
    LEFT JOIN pushfleet.route ON route.id = c.route_id
    WHERE c.run_id = run.id
    GROUP BY route.transport
) t
WHERE NOT run.is_test;

-- Open runs are summed up once, not looked up one by one: with many runs that was planned so dearly that it was compiled.
CREATE OR REPLACE VIEW pushfleet_report.runs AS
SELECT run.id AS run_id, run.campaign_id, app.name AS app, coalesce(campaign.name, 'single notifications') AS name,
    pushfleet_report.run_status_name(run.status) AS status, run.due_at, run.created_at, run.closed_at,
    counted.targeted, counted.pending, counted.leased, counted.retrying, counted.delivered, counted.failed,
    counted.unregistered, counted.expired, counted.cancelled, counted.skipped, counted.in_doubt,
    counted.repeat_bound,
    round(100.0 * (counted.targeted - counted.pending - counted.leased - counted.retrying)
        / nullif(counted.targeted, 0), 1) AS percent_done,
    speed.per_second,
    CASE WHEN run.closed_at IS NULL AND speed.per_second > 0
        THEN make_interval(secs => round((counted.pending + counted.leased + counted.retrying) / speed.per_second))
    END AS time_left
FROM pushfleet.run
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.campaign ON campaign.id = run.campaign_id
LEFT JOIN pushfleet.run_total t ON t.run_id = run.id
LEFT JOIN pushfleet.accounting a ON a.run_id = run.id AND run.closed_at IS NULL
CROSS JOIN LATERAL (
    SELECT coalesce(t.targeted, a.targeted) AS targeted, CASE WHEN t.run_id IS NULL THEN a.pending ELSE 0 END AS pending,
        CASE WHEN t.run_id IS NULL THEN a.leased ELSE 0 END AS leased,
        CASE WHEN t.run_id IS NULL THEN a.retrying ELSE 0 END AS retrying, coalesce(t.delivered, a.delivered) AS delivered,
        coalesce(t.failed, a.failed) AS failed, coalesce(t.unregistered, a.unregistered) AS unregistered,
        coalesce(t.expired, a.expired) AS expired, coalesce(t.cancelled, a.cancelled) AS cancelled,
        coalesce(t.skipped, a.skipped) AS skipped, coalesce(t.in_doubt, a.in_doubt) AS in_doubt,
        coalesce(t.repeat_bound, a.repeat_bound) AS repeat_bound
) counted
CROSS JOIN LATERAL (
    -- Since its first batch was due: what is settled by then, over the time.
    SELECT round((counted.targeted - counted.pending - counted.leased - counted.retrying) / nullif(
        extract(epoch FROM coalesce(run.closed_at, now()) - greatest(run.due_at, run.created_at)), 0), 1) AS per_second
) speed
WHERE NOT run.is_test AND (t.run_id IS NOT NULL OR a.run_id IS NOT NULL);

-- The waiting rows are counted in one pass, where each open run had one of its own.
CREATE OR REPLACE VIEW pushfleet.accounting_violation AS
SELECT
    a.shard, a.run_id, a.targeted, a.expanded, a.pending, a.leased, a.retrying, a.delivered, a.failed, a.unregistered,
    a.expired, a.cancelled, a.skipped, a.in_doubt, a.repeat_bound, coalesce(queue.waiting, 0) AS retry_rows
FROM pushfleet.accounting_shard a
LEFT JOIN (
    SELECT retry.shard, retry.run_id, count(*) AS waiting
    FROM pushfleet.retry
    GROUP BY retry.shard, retry.run_id
) queue ON queue.shard = a.shard AND queue.run_id = a.run_id
WHERE a.targeted <> a.pending + a.leased + a.retrying + a.delivered + a.failed + a.unregistered + a.expired
        + a.cancelled + a.skipped + a.in_doubt
    OR a.targeted <> a.expanded
    OR a.retrying <> coalesce(queue.waiting, 0);

CREATE OR REPLACE VIEW pushfleet_report.outcomes AS
SELECT t.run_id, pushfleet_report.transport_name(route.transport) AS transport,
    CASE route.transport WHEN 1 THEN 'ios' WHEN 2 THEN 'android' WHEN 3 THEN 'web' END AS platform,
    t.asked AS language_asked, t.served AS language_served, t.variant, t.content_version,
    pushfleet_report.outcome_name(t.outcome) AS outcome, reason.name AS reason, sum(t.n)::bigint AS jobs
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.reason ON reason.code = t.reason
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY t.run_id, route.transport, t.asked, t.served, t.variant, t.content_version, t.outcome, reason.name;

CREATE OR REPLACE VIEW pushfleet_report.latency AS
SELECT run_id, transport, kind, sum(n)::bigint AS jobs,
    min(bound) FILTER (WHERE below >= 0.5 * whole) AS p50_ms,
    min(bound) FILTER (WHERE below >= 0.9 * whole) AS p90_ms,
    min(bound) FILTER (WHERE below >= 0.95 * whole) AS p95_ms,
    min(bound) FILTER (WHERE below >= 0.99 * whole) AS p99_ms
FROM (
    SELECT c.run_id, c.transport, c.kind, c.n, round(2 ^ (c.class / 4.0)) AS bound,
        sum(c.n) OVER (PARTITION BY c.run_id, c.transport, c.kind ORDER BY c.class) AS below,
        sum(c.n) OVER (PARTITION BY c.run_id, c.transport, c.kind) AS whole
    FROM (
        SELECT t.run_id, pushfleet_report.transport_name(route.transport) AS transport,
            CASE t.kind WHEN 1 THEN 'due to sent' ELSE 'sent to answered' END AS kind, t.class, sum(t.n) AS n
        FROM pushfleet.tally_latency t
        JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
        LEFT JOIN pushfleet.route ON route.id = t.route_id
        GROUP BY t.run_id, route.transport, t.kind, t.class
    ) c
) classes
GROUP BY run_id, transport, kind;

CREATE OR REPLACE VIEW pushfleet_report.retries AS
SELECT t.run_id, pushfleet_report.transport_name(route.transport) AS transport, sum(t.n)::bigint AS jobs,
    sum(t.attempts)::bigint AS attempts,
    greatest(0, sum(t.attempts) - sum(t.n) FILTER (WHERE t.attempts > 0))::bigint AS retries,
    coalesce(sum(t.n) FILTER (WHERE t.outcome = 7), 0)::bigint AS in_doubt
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY t.run_id, route.transport;

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
CROSS JOIN LATERAL (
    SELECT t.targeted, 0::numeric AS pending, 0::numeric AS leased, 0::numeric AS retrying, t.delivered, t.failed,
        t.unregistered, t.expired, t.cancelled, t.skipped, t.in_doubt, t.repeat_bound
    FROM pushfleet.run_total t
    WHERE t.run_id = run.id
    UNION ALL
    SELECT a.targeted, a.pending, a.leased, a.retrying, a.delivered, a.failed, a.unregistered, a.expired, a.cancelled,
        a.skipped, a.in_doubt, a.repeat_bound
    FROM pushfleet.accounting a
    WHERE a.run_id = run.id AND run.closed_at IS NULL
) counted
CROSS JOIN LATERAL (
    -- Since its first batch was due: what is settled by then, over the time.
    SELECT round((counted.targeted - counted.pending - counted.leased - counted.retrying) / nullif(
        extract(epoch FROM coalesce(run.closed_at, now()) - greatest(run.due_at, run.created_at)), 0), 1) AS per_second
) speed
WHERE NOT run.is_test;

CREATE OR REPLACE VIEW pushfleet.accounting_violation AS
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

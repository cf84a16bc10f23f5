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

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

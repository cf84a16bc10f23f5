-- why: stable views for analysts, the support desk and whoever is on call, from tallies alone
-- locks: none; everything here is new
-- safe with workers running: yes
-- lowest binary: 1

CREATE SCHEMA pushfleet_report;
COMMENT ON SCHEMA pushfleet_report IS 'What anybody may see: no address, no key, no attribute. Views stay as they are.';

-- Names of the numbers in status columns.
CREATE FUNCTION pushfleet_report.transport_name(code smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['apns', 'fcm', 'webpush'])[code] $$;

CREATE FUNCTION pushfleet_report.outcome_name(code smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT (ARRAY['delivered', 'failed', 'unregistered', 'expired', 'cancelled', 'skipped', 'in_doubt'])[code]
$$;

CREATE FUNCTION pushfleet_report.run_status_name(code smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['running', 'paused', 'cancelled', 'done'])[code] $$;

CREATE FUNCTION pushfleet_report.token_state_name(code smallint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT (ARRAY['active', 'suspect', 'unregistered', 'wrong_project', 'quarantined'])[code] $$;

CREATE VIEW pushfleet_report.campaigns AS
SELECT campaign.id AS campaign_id, app.name AS app, campaign.name, campaign.created_at,
    CASE campaign.state WHEN 1 THEN 'active' WHEN 2 THEN 'refused' ELSE 'over' END AS state,
    runs.n AS runs, runs.first_due_at, runs.last_due_at
FROM pushfleet.campaign
JOIN pushfleet.app ON app.id = campaign.app_id
CROSS JOIN LATERAL (
    SELECT count(*) AS n, min(run.due_at) AS first_due_at, max(run.due_at) AS last_due_at
    FROM pushfleet.run
    WHERE run.campaign_id = campaign.id AND NOT run.is_test
) runs;
COMMENT ON VIEW pushfleet_report.campaigns IS 'One row for each campaign.';

-- Totals of a closed run; what batches say of an open one.
CREATE VIEW pushfleet_report.runs AS
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
COMMENT ON VIEW pushfleet_report.runs IS
    'One row for each run: where its jobs are now, how fast it goes and how long it takes still. targeted is the sum of the ten columns after it.';

CREATE VIEW pushfleet_report.outcomes AS
SELECT t.run_id, pushfleet_report.transport_name(route.transport) AS transport,
    CASE route.transport WHEN 1 THEN 'ios' WHEN 2 THEN 'android' WHEN 3 THEN 'web' END AS platform,
    t.asked AS language_asked, t.served AS language_served, t.variant, t.content_version,
    pushfleet_report.outcome_name(t.outcome) AS outcome, reason.name AS reason, sum(t.n)::bigint AS jobs
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.reason ON reason.code = t.reason
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY t.run_id, route.transport, t.asked, t.served, t.variant, t.content_version, t.outcome, reason.name;
COMMENT ON VIEW pushfleet_report.outcomes IS
    'What became of a run''s jobs, by every dimension. Up to a minute behind while it runs.';

CREATE VIEW pushfleet_report.hourly AS
SELECT t.hour, app.name AS app, pushfleet_report.transport_name(route.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome, sum(t.n)::bigint AS jobs
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY t.hour, app.name, route.transport, t.outcome;
COMMENT ON VIEW pushfleet_report.hourly IS 'Outcomes by the hour. Name an hour or a range of hours.';

CREATE VIEW pushfleet_report.daily AS
SELECT date_trunc('day', t.hour AT TIME ZONE 'UTC')::date AS day, app.name AS app,
    pushfleet_report.transport_name(route.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome, sum(t.n)::bigint AS jobs
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY 1, app.name, route.transport, t.outcome;
COMMENT ON VIEW pushfleet_report.daily IS 'Outcomes by UTC day.';

-- A class is reported by its upper bound, so a percentile is at most a fifth too high.
CREATE VIEW pushfleet_report.latency AS
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
COMMENT ON VIEW pushfleet_report.latency IS 'Percentiles of a run, in milliseconds, at most a fifth too high.';

CREATE VIEW pushfleet_report.retries AS
SELECT t.run_id, pushfleet_report.transport_name(route.transport) AS transport, sum(t.n)::bigint AS jobs,
    sum(t.attempts)::bigint AS attempts,
    greatest(0, sum(t.attempts) - sum(t.n) FILTER (WHERE t.attempts > 0))::bigint AS retries,
    coalesce(sum(t.n) FILTER (WHERE t.outcome = 7), 0)::bigint AS in_doubt
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY t.run_id, route.transport;
COMMENT ON VIEW pushfleet_report.retries IS
    'Attempts beyond the first, by run and transport. How many may have gone out twice: runs.repeat_bound.';

CREATE VIEW pushfleet_report.tokens AS
SELECT app.name AS app, pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.token_state_name(t.state) AS state, t.registered_month, t.seen_days, t.counted_at,
    sum(t.n)::bigint AS subscribers
FROM pushfleet.token_tally t
JOIN pushfleet.app ON app.id = t.app_id
WHERE t.counted_at = (SELECT max(last.counted_at) FROM pushfleet.token_tally last WHERE last.app_id = t.app_id)
GROUP BY app.name, t.transport, t.state, t.registered_month, t.seen_days, t.counted_at;
COMMENT ON VIEW pushfleet_report.tokens IS
    'Addresses by state, month of registration and days since last seen, as of the last hourly count.';

CREATE VIEW pushfleet_report.newly_unregistered AS
SELECT date_trunc('day', t.hour AT TIME ZONE 'UTC')::date AS day, app.name AS app,
    pushfleet_report.transport_name(route.transport) AS transport, sum(t.n)::bigint AS subscribers
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.route ON route.id = t.route_id
WHERE t.outcome = 3
GROUP BY 1, app.name, route.transport;
COMMENT ON VIEW pushfleet_report.newly_unregistered IS 'Addresses that a provider called dead, by UTC day.';

CREATE VIEW pushfleet_report.queue AS
SELECT lane.name AS lane, coalesce(open.jobs, 0)::bigint + waiting.n AS jobs,
    coalesce(open.ready, 0)::bigint + waiting.n AS ready, coalesce(open.leased, 0)::bigint AS leased,
    coalesce(open.scheduled, 0)::bigint AS scheduled,
    CASE WHEN lane.code = 1 THEN coalesce(retry.n, 0) ELSE 0 END AS retrying,
    coalesce(greatest(now() - least(open.oldest_due_at, waiting.oldest_due_at), interval '0'), interval '0')
        AS oldest_due_age
FROM (VALUES (0::smallint, 'transactional'), (1::smallint, 'campaign')) lane (code, name)
LEFT JOIN LATERAL (
    SELECT sum(b.size - b.settled) AS jobs, sum(b.size - b.settled) FILTER (WHERE b.state = 0) AS ready,
        sum(b.size - b.settled) FILTER (WHERE b.state = 1) AS leased,
        sum(b.size - b.settled) FILTER (WHERE b.state = 5) AS scheduled,
        min(b.due_at) FILTER (WHERE b.state IN (0, 1)) AS oldest_due_at
    FROM pushfleet.batch b
    JOIN pushfleet.run ON run.id = b.run_id AND run.lane = lane.code
    WHERE b.state IN (0, 1, 5)
) open ON true
LEFT JOIN LATERAL (SELECT count(*) AS n FROM pushfleet.retry) retry ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS n, min(n.due_at) AS oldest_due_at
    FROM pushfleet.notification n
    WHERE lane.code = 0 AND n.due_at <= now()
) waiting ON true;
COMMENT ON VIEW pushfleet_report.queue IS 'How much waits in each lane, and since when the oldest is due.';

CREATE VIEW pushfleet_report.workers AS
SELECT left(worker.id::text, 8) AS worker, worker.lease_until, worker.lease_until > now() AS is_alive,
    held.batches, held.jobs
FROM pushfleet.worker
CROSS JOIN LATERAL (
    SELECT count(*) AS batches, coalesce(sum(b.size - b.settled), 0)::bigint AS jobs
    FROM pushfleet.batch b
    WHERE b.state = 1 AND b.holder = worker.id AND b.shard IN (SELECT unnest(app.shards) FROM pushfleet.app)
) held;
COMMENT ON VIEW pushfleet_report.workers IS 'Worker processes, their leases and what they hold.';

CREATE VIEW pushfleet_report.credentials AS
SELECT app.name AS app, credential.name AS credential, pushfleet_report.transport_name(credential.transport) AS transport,
    CASE credential.state WHEN 0 THEN 'ok' ELSE 'paused' END AS state, reason.name AS reason, credential.state_since,
    greatest(credential.last_success_at, (
        SELECT max(m.at_minute)
        FROM pushfleet.answer_minute m
        WHERE m.credential_id = credential.id AND m.answers > m.gone + m.foreign_to_us
    )) AS last_success_at
FROM pushfleet.credential
JOIN pushfleet.app ON app.id = credential.app_id
JOIN pushfleet.reason ON reason.code = credential.state_reason;
COMMENT ON VIEW pushfleet_report.credentials IS 'Whether each credential works, and why not.';

CREATE VIEW pushfleet_report.accounting AS SELECT * FROM pushfleet.accounting;
COMMENT ON VIEW pushfleet_report.accounting IS 'Where the jobs of each open run are: targeted = the sum of the ten columns after it.';
CREATE VIEW pushfleet_report.accounting_violation AS SELECT * FROM pushfleet.accounting_violation;
COMMENT ON VIEW pushfleet_report.accounting_violation IS 'Always empty: a row is a defect.';

CREATE OR REPLACE VIEW pushfleet_report.hourly AS
SELECT t.hour, app.name AS app, pushfleet_report.transport_name(route.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome, sum(t.n)::bigint AS jobs
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY t.hour, app.name, route.transport, t.outcome;

CREATE OR REPLACE VIEW pushfleet_report.daily AS
SELECT date_trunc('day', t.hour AT TIME ZONE 'UTC')::date AS day, app.name AS app,
    pushfleet_report.transport_name(route.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome, sum(t.n)::bigint AS jobs
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.route ON route.id = t.route_id
GROUP BY 1, app.name, route.transport, t.outcome;

CREATE OR REPLACE VIEW pushfleet_report.newly_unregistered AS
SELECT date_trunc('day', t.hour AT TIME ZONE 'UTC')::date AS day, app.name AS app,
    pushfleet_report.transport_name(route.transport) AS transport, sum(t.n)::bigint AS subscribers
FROM pushfleet.tally t
JOIN pushfleet.run ON run.id = t.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.route ON route.id = t.route_id
WHERE t.outcome = 3
GROUP BY 1, app.name, route.transport;

CREATE OR REPLACE VIEW pushfleet_report.tokens AS
SELECT app.name AS app, pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.token_state_name(t.state) AS state, t.registered_month, t.seen_days, t.counted_at,
    sum(t.n)::bigint AS subscribers
FROM pushfleet.token_tally t
JOIN pushfleet.app ON app.id = t.app_id
WHERE t.counted_at = (SELECT max(last.counted_at) FROM pushfleet.token_tally last WHERE last.app_id = t.app_id)
GROUP BY app.name, t.transport, t.state, t.registered_month, t.seen_days, t.counted_at;

DROP TRIGGER tally_updated ON pushfleet.tally;
DROP TRIGGER tally_inserted ON pushfleet.tally;
DROP FUNCTION pushfleet.sum_tallies;
DROP FUNCTION pushfleet.add_sums;
DROP TABLE pushfleet.tally_day;
DROP TABLE pushfleet.tally_hour;

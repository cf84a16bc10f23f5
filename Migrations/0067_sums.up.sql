-- why: series by the hour and day are summed up while tallies are written, so that a report of months reads hundreds of rows
-- locks: tally, against its writers, while it is summed up once (about a second for each million rows)
-- safe with workers running: yes
-- lowest binary: 1

-- Tallies without run, language and version; test runs left out. 0 stands for "no route was chosen".
CREATE TABLE pushfleet.tally_hour (
    hour timestamptz NOT NULL,
    app_id bigint NOT NULL,
    n bigint NOT NULL,
    transport smallint NOT NULL,
    outcome smallint NOT NULL,
    PRIMARY KEY (hour, app_id, transport, outcome)
) WITH (fillfactor = 50);

CREATE TABLE pushfleet.tally_day (
    day date NOT NULL,
    app_id bigint NOT NULL,
    n bigint NOT NULL,
    transport smallint NOT NULL,
    outcome smallint NOT NULL,
    PRIMARY KEY (day, app_id, transport, outcome)
) WITH (fillfactor = 50);
COMMENT ON TABLE pushfleet.tally_day IS 'By UTC day.';

-- Adds changes of tallies to the sums. One at a time: two that wrote the same hours in different orders would deadlock.
CREATE FUNCTION pushfleet.add_sums(hours timestamptz[], runs bigint[], routes bigint[], outcomes smallint[], counts bigint[])
RETURNS void
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('pushfleet.add_sums'));
    WITH change AS MATERIALIZED (
        SELECT c.hour, run.app_id, sum(c.n)::bigint AS n, coalesce(route.transport, 0::smallint) AS transport, c.outcome
        FROM unnest(hours, runs, routes, outcomes, counts) c (hour, run_id, route_id, outcome, n)
        JOIN pushfleet.run ON run.id = c.run_id AND NOT run.is_test
        LEFT JOIN pushfleet.route ON route.id = c.route_id
        GROUP BY c.hour, run.app_id, coalesce(route.transport, 0::smallint), c.outcome
    ),
    by_hour AS (
        INSERT INTO pushfleet.tally_hour AS t (hour, app_id, n, transport, outcome)
        SELECT change.hour, change.app_id, change.n, change.transport, change.outcome
        FROM change
        ON CONFLICT (hour, app_id, transport, outcome) DO UPDATE SET n = t.n + excluded.n
    )
    INSERT INTO pushfleet.tally_day AS t (day, app_id, n, transport, outcome)
    SELECT (change.hour AT TIME ZONE 'UTC')::date, change.app_id, sum(change.n), change.transport, change.outcome
    FROM change
    GROUP BY (change.hour AT TIME ZONE 'UTC')::date, change.app_id, change.transport, change.outcome
    ON CONFLICT (day, app_id, transport, outcome) DO UPDATE SET n = t.n + excluded.n;
END
$$;

-- Triggers, so that a fold() that began before this migration is summed up as well. As the owner: who may write tallies
-- need not see the sums.
CREATE FUNCTION pushfleet.sum_tallies() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM pushfleet.add_sums(
            array_agg(c.hour), array_agg(c.run_id), array_agg(c.route_id), array_agg(c.outcome), array_agg(c.n))
        FROM (
            SELECT f.hour, f.run_id, f.route_id, f.outcome, sum(f.n)::bigint AS n FROM fresh f GROUP BY 1, 2, 3, 4
        ) c
        HAVING count(*) > 0;
    ELSE
        PERFORM pushfleet.add_sums(
            array_agg(c.hour), array_agg(c.run_id), array_agg(c.route_id), array_agg(c.outcome), array_agg(c.n))
        FROM (
            SELECT u.hour, u.run_id, u.route_id, u.outcome, sum(u.n)::bigint AS n
            FROM (
                SELECT f.hour, f.run_id, f.route_id, f.outcome, f.n FROM fresh f
                UNION ALL
                SELECT s.hour, s.run_id, s.route_id, s.outcome, -s.n FROM stale s
            ) u
            GROUP BY 1, 2, 3, 4
        ) c
        HAVING count(*) > 0;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER tally_inserted AFTER INSERT ON pushfleet.tally
    REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION pushfleet.sum_tallies();
CREATE TRIGGER tally_updated AFTER UPDATE ON pushfleet.tally
    REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION pushfleet.sum_tallies();

-- The triggers' lock keeps writers away until this commits; who had written before has committed by now.
SELECT pushfleet.add_sums(
    array_agg(c.hour), array_agg(c.run_id), array_agg(c.route_id), array_agg(c.outcome), array_agg(c.n))
FROM (SELECT t.hour, t.run_id, t.route_id, t.outcome, sum(t.n)::bigint AS n FROM pushfleet.tally t GROUP BY 1, 2, 3, 4) c
HAVING count(*) > 0;

CREATE OR REPLACE VIEW pushfleet_report.hourly AS
SELECT t.hour, app.name AS app, pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome, t.n AS jobs
FROM pushfleet.tally_hour t
JOIN pushfleet.app ON app.id = t.app_id;

CREATE OR REPLACE VIEW pushfleet_report.daily AS
SELECT t.day, app.name AS app, pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome, t.n AS jobs
FROM pushfleet.tally_day t
JOIN pushfleet.app ON app.id = t.app_id;

CREATE OR REPLACE VIEW pushfleet_report.newly_unregistered AS
SELECT t.day, app.name AS app, pushfleet_report.transport_name(t.transport) AS transport, t.n AS subscribers
FROM pushfleet.tally_day t
JOIN pushfleet.app ON app.id = t.app_id
WHERE t.outcome = 3;

-- Each app's last count by its key, where all of an app's counts were read.
CREATE OR REPLACE VIEW pushfleet_report.tokens AS
SELECT app.name AS app, pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.token_state_name(t.state) AS state, t.registered_month, t.seen_days, t.counted_at,
    t.n AS subscribers
FROM pushfleet.app
CROSS JOIN LATERAL (
    SELECT l.counted_at
    FROM pushfleet.token_tally l
    WHERE l.app_id = app.id
    ORDER BY l.counted_at DESC
    LIMIT 1
) last
JOIN pushfleet.token_tally t ON t.app_id = app.id AND t.counted_at = last.counted_at;

REVOKE ALL ON FUNCTION pushfleet.add_sums, pushfleet.sum_tallies FROM PUBLIC;

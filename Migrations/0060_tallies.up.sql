-- why: counts of deliveries by hour and every dimension that reports show, so that no report reads rows
-- locks: a BRIN index on each day of delivery: writers of that day wait while it is built
-- safe with workers running: yes
-- lowest binary: 1

-- Deliveries of one hour, counted once each by fold(). Empty text and 0 stand for "none".
CREATE TABLE pushfleet.tally (
    hour timestamptz NOT NULL,
    run_id bigint NOT NULL,
    route_id bigint NOT NULL,
    content_version bigint NOT NULL,
    n bigint NOT NULL,
    attempts bigint NOT NULL,
    outcome smallint NOT NULL,
    reason smallint NOT NULL,
    variant smallint NOT NULL,
    asked text NOT NULL,
    served text NOT NULL,
    PRIMARY KEY (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served)
) WITH (fillfactor = 80);
CREATE INDEX tally_by_hour ON pushfleet.tally (hour);
COMMENT ON COLUMN pushfleet.tally.route_id IS '0: skipped before a route was chosen';
COMMENT ON COLUMN pushfleet.tally.attempts IS 'Made by these jobs, all together.';
COMMENT ON COLUMN pushfleet.tally.asked IS
    'The subscriber''s language as it was when counted: lower case, hyphens; "other" if it is no language tag';
COMMENT ON COLUMN pushfleet.tally.served IS 'The variant of the message that was sent, as its author spelled it.';

-- Durations in classes whose bounds grow by a fifth or so: class c ends at 2^(c/4) milliseconds.
CREATE TABLE pushfleet.tally_latency (
    hour timestamptz NOT NULL,
    run_id bigint NOT NULL,
    route_id bigint NOT NULL,
    n bigint NOT NULL,
    kind smallint NOT NULL,
    class smallint NOT NULL,
    PRIMARY KEY (run_id, hour, route_id, kind, class),
    CONSTRAINT tally_latency_kind CHECK (kind IN (1, 2))
) WITH (fillfactor = 80);
CREATE INDEX tally_latency_by_hour ON pushfleet.tally_latency (hour);
COMMENT ON COLUMN pushfleet.tally_latency.kind IS '1 from due to sent, 2 from sent to answered';

-- Up to where each shard's deliveries are counted.
CREATE TABLE pushfleet.tally_mark (
    shard smallint PRIMARY KEY,
    folded_until timestamptz NOT NULL
) WITH (fillfactor = 20);

-- Subscribers by state and age, counted once an hour.
CREATE TABLE pushfleet.token_tally (
    counted_at timestamptz NOT NULL,
    app_id bigint NOT NULL,
    transport smallint NOT NULL,
    state smallint NOT NULL,
    registered_month date NOT NULL,
    seen_days smallint NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (app_id, counted_at, transport, state, registered_month, seen_days)
);
COMMENT ON COLUMN pushfleet.token_tally.seen_days IS
    'Upper bound of days since it was last seen: 1, 7, 30, 90, 270, 32767; -1 = never reported';

-- How deliveries are found by time: some bytes for each megabyte.
CREATE OR REPLACE FUNCTION pushfleet.ensure_day(parent text, day date) RETURNS void
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    child text := parent || '_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass('pushfleet.' || child) IS NOT NULL THEN
        RETURN;
    END IF;
    -- One maker at a time; who waited here looks again.
    LOCK TABLE pushfleet.bucket IN SHARE ROW EXCLUSIVE MODE;
    IF to_regclass('pushfleet.' || child) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format(
        'CREATE TABLE pushfleet.%I (LIKE pushfleet.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
        child, parent);
    EXECUTE format('CREATE INDEX %I ON pushfleet.%I (subscriber_id)', child || '_subscriber', child);
    EXECUTE format(
        'CREATE INDEX %I ON pushfleet.%I USING brin (at) WITH (pages_per_range = 32, autosummarize = on)',
        child || '_at', child);
    EXECUTE format(
        'ALTER TABLE pushfleet.%I ATTACH PARTITION pushfleet.%I FOR VALUES FROM (%L) TO (%L)',
        parent, child, day || ' 00:00+00', day + 1 || ' 00:00+00');
END
$$;

DO $$
DECLARE
    day record;
BEGIN
    FOR day IN
        SELECT c.relname
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('pushfleet.delivery'::regclass, 'pushfleet.attempt'::regclass)
    LOOP
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS %I ON pushfleet.%I USING brin (at) WITH (pages_per_range = 32, autosummarize = on)',
            day.relname || '_at', day.relname);
    END LOOP;
END
$$;

-- The class of a duration in milliseconds: 0 up to 1 ms, then four for each doubling, 127 at most.
CREATE FUNCTION pushfleet.latency_class(milliseconds double precision) RETURNS smallint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$ SELECT least(127, ceil(4 / ln(2::double precision) * ln(greatest(1, milliseconds)) - 1e-9))::smallint $$;

-- A subscriber's language for reports: bounded in number, whatever devices say.
CREATE FUNCTION pushfleet.language_label(language text) RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN language IS NULL OR language = '' THEN ''
        WHEN language ~* '^[a-z]{2,3}([-_][a-z]{4})?([-_]([a-z]{2}|[0-9]{3}))?$' THEN lower(translate(language, '_', '-'))
        ELSE 'other'
    END
$$;

-- Up to which instant every delivery is visible: no transaction that may still write an earlier one is under way. A flush
-- never lasts longer than its deadline of 30 s, so older transactions are none.
CREATE FUNCTION pushfleet.settled_until() RETURNS timestamptz
LANGUAGE sql
STABLE
AS $$
    SELECT greatest(now() - interval '60 s', least(now() - interval '1 s', min(a.xact_start)))
    FROM pg_stat_activity a
    WHERE a.datname = current_database()
        AND a.pid <> pg_backend_pid()
        AND a.backend_type = 'client backend'
        AND (a.xact_start IS NULL OR a.xact_start > now() - interval '60 s')
$$;

-- Counts the deliveries of a shard that were not counted yet, at most `span` of time; how many. The mark moves in the same
-- transaction, so each is counted once; a second one that runs at the same time finds nothing to do.
CREATE FUNCTION pushfleet.fold(in_shard smallint, span interval DEFAULT '10 min') RETURNS bigint
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    since timestamptz;
    upto timestamptz;
    counted bigint;
BEGIN
    INSERT INTO pushfleet.tally_mark (shard, folded_until)
    SELECT in_shard, coalesce(
        (SELECT date_trunc('hour', min(r.created_at)) FROM pushfleet.run r), date_trunc('hour', now()))
    ON CONFLICT (shard) DO NOTHING;
    SELECT m.folded_until INTO since FROM pushfleet.tally_mark m WHERE m.shard = in_shard FOR UPDATE SKIP LOCKED;
    upto := least(since + span, pushfleet.settled_until());
    IF since IS NULL OR upto <= since THEN
        RETURN 0;
    END IF;
    WITH fresh AS MATERIALIZED (
        SELECT date_trunc('hour', d.at) AS hour, d.run_id, b.route_id, coalesce(d.content_version, 0) AS content_version,
            d.outcome, d.reason, coalesce(d.variant, 0::smallint) AS variant, d.attempts,
            pushfleet.language_label(s.language) AS asked, coalesce(d.language, '') AS served,
            CASE WHEN d.sent_at IS NOT NULL THEN pushfleet.latency_class(1000 * extract(epoch FROM d.sent_at - b.due_at))
            END AS to_sent,
            CASE WHEN d.answer_ms IS NOT NULL THEN pushfleet.latency_class(d.answer_ms) END AS to_answer
        FROM pushfleet.delivery d
        JOIN pushfleet.batch b ON b.shard = d.shard AND b.id = d.batch_id
        LEFT JOIN pushfleet.subscriber s ON s.shard = d.shard AND s.id = d.subscriber_id
        WHERE d.shard = in_shard AND d.at >= since AND d.at < upto
    ),
    outcomes AS (
        INSERT INTO pushfleet.tally AS t (
            hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served
        )
        SELECT f.hour, f.run_id, f.route_id, f.content_version, count(*), sum(f.attempts), f.outcome, f.reason, f.variant,
            f.asked, f.served
        FROM fresh f
        GROUP BY f.hour, f.run_id, f.route_id, f.content_version, f.outcome, f.reason, f.variant, f.asked, f.served
        ON CONFLICT (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served) DO UPDATE
        SET n = t.n + excluded.n, attempts = t.attempts + excluded.attempts
        RETURNING 1
    ),
    latencies AS (
        INSERT INTO pushfleet.tally_latency AS t (hour, run_id, route_id, n, kind, class)
        SELECT f.hour, f.run_id, f.route_id, count(*), k.kind, k.class
        FROM fresh f
        CROSS JOIN LATERAL (VALUES (1::smallint, f.to_sent), (2::smallint, f.to_answer)) k (kind, class)
        WHERE k.class IS NOT NULL
        GROUP BY f.hour, f.run_id, f.route_id, k.kind, k.class
        ON CONFLICT (run_id, hour, route_id, kind, class) DO UPDATE SET n = t.n + excluded.n
        RETURNING 1
    )
    SELECT count(*) INTO counted FROM fresh;
    UPDATE pushfleet.tally_mark SET folded_until = upto WHERE shard = in_shard;
    RETURN counted;
END
$$;

-- Counts subscribers by state and age. Reads them all: once an hour, by the janitor.
CREATE FUNCTION pushfleet.count_tokens() RETURNS void
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    INSERT INTO pushfleet.token_tally (counted_at, app_id, transport, state, registered_month, seen_days, n)
    SELECT date_trunc('hour', now()), s.app_id, s.transport, s.state,
        date_trunc('month', s.registered_at AT TIME ZONE 'UTC')::date,
        CASE
            WHEN s.seen_at IS NULL THEN -1
            WHEN s.seen_at > now() - interval '1 day' THEN 1
            WHEN s.seen_at > now() - interval '7 days' THEN 7
            WHEN s.seen_at > now() - interval '30 days' THEN 30
            WHEN s.seen_at > now() - interval '90 days' THEN 90
            WHEN s.seen_at > now() - interval '270 days' THEN 270
            ELSE 32767
        END,
        count(*)
    FROM pushfleet.subscriber s
    GROUP BY 2, 3, 4, 5, 6
    ON CONFLICT (app_id, counted_at, transport, state, registered_month, seen_days) DO UPDATE SET n = excluded.n
$$;

-- Deliveries and what was counted of them, for runs that closed long enough ago.
CREATE VIEW pushfleet.tally_violation AS
SELECT total.run_id, total.targeted, coalesce(counted.n, 0) AS counted
FROM pushfleet.run_total total
JOIN pushfleet.run ON run.id = total.run_id
CROSS JOIN LATERAL (SELECT sum(t.n) AS n FROM pushfleet.tally t WHERE t.run_id = total.run_id) counted
WHERE run.closed_at < (SELECT min(m.folded_until) FROM pushfleet.tally_mark m)
    AND coalesce(counted.n, 0) <> total.targeted;
COMMENT ON VIEW pushfleet.tally_violation IS 'Always empty: a row is a run whose deliveries were miscounted.';

REVOKE ALL ON FUNCTION pushfleet.fold, pushfleet.count_tokens, pushfleet.settled_until, pushfleet.latency_class,
    pushfleet.language_label FROM PUBLIC;

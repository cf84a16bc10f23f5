-- why: apps' SDKs register installations and tell what became of notifications on the device
-- locks: none; everything here is new
-- safe with workers running: yes
-- lowest binary: 1

-- What an app's SDK proves itself with. The key is shown once and kept nowhere.
CREATE TABLE pushfleet.intake_key (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id bigint NOT NULL,
    hash bytea NOT NULL UNIQUE,
    label text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    CONSTRAINT intake_key_hash CHECK (octet_length(hash) = 32)
);
CREATE INDEX intake_key_by_app ON pushfleet.intake_key (app_id);
COMMENT ON COLUMN pushfleet.intake_key.hash IS 'SHA-256 of the key, which holds 256 random bits.';
COMMENT ON COLUMN pushfleet.intake_key.label IS 'The key''s first characters, to tell it from others.';

-- Events that were counted, for a day: one that comes again within it changes nothing.
CREATE TABLE pushfleet.event_seen (
    app_id bigint NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX event_seen_received ON pushfleet.event_seen USING brin (received_at) WITH (autosummarize = on);

-- Notifications of which a kind of event was told, for a day: one that is opened again within it counts once.
CREATE TABLE pushfleet.event_first (
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    kind smallint NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, number, kind)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX event_first_received ON pushfleet.event_first USING brin (received_at) WITH (autosummarize = on);

-- Several rows for one hour, so that two writers seldom wait for each other.
CREATE TABLE pushfleet.event_tally (
    hour timestamptz NOT NULL,
    run_id bigint NOT NULL,
    events bigint NOT NULL,
    notifications bigint NOT NULL,
    kind smallint NOT NULL,
    slot smallint NOT NULL,
    PRIMARY KEY (run_id, hour, kind, slot),
    CONSTRAINT event_tally_kind CHECK (kind BETWEEN 1 AND 5)
) WITH (fillfactor = 50);
CREATE INDEX event_tally_by_hour ON pushfleet.event_tally (hour);
COMMENT ON COLUMN pushfleet.event_tally.kind IS '1 delivered on the device, 2 shown, 3 opened, 4 action, 5 dismissed';
COMMENT ON COLUMN pushfleet.event_tally.hour IS 'When it happened, as the device says.';
COMMENT ON COLUMN pushfleet.event_tally.notifications IS 'Without further events of one kind on one notification.';

-- The intake's calls, as the owner: the process that strangers talk to reads and writes no table itself.

-- Whose key has the hash; no row for one that is unknown or revoked.
CREATE FUNCTION pushfleet.intake_caller(in_hash bytea) RETURNS TABLE (key_id bigint, app_id bigint, app_name text)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
    SELECT key.id, app.id, app.name
    FROM pushfleet.intake_key key
    JOIN pushfleet.app ON app.id = key.app_id
    WHERE key.hash = in_hash AND key.revoked_at IS NULL
$$;

-- Registers an installation or refreshes it, by the rules of an import: a changed address, or a registration later than
-- what was said against the old one, revives it. True = it is new.
CREATE FUNCTION pushfleet.intake_register(
    in_app bigint, in_external_id text, in_user_id text, in_transport smallint, in_address text, in_environment smallint,
    in_p256dh text, in_auth text, in_language text, in_time_zone text, in_attributes jsonb, in_tags text[],
    in_registered_at timestamptz, in_vapid_key text
) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    is_new boolean;
BEGIN
    INSERT INTO pushfleet.subscriber AS known (
        shard, app_id, transport, service, environment, external_id, user_id, address, p256dh, auth, language,
        time_zone, attributes, tags, registered_at, vapid_credential, seen_at
    )
    SELECT
        app.shards[1 + abs(hashtextextended(in_external_id COLLATE "C", app.id) % cardinality(app.shards))],
        app.id, in_transport,
        CASE
            WHEN in_transport <> 3 THEN 0
            WHEN in_address LIKE 'https://fcm.googleapis.com/%' THEN 1
            WHEN in_address LIKE 'https://%push.services.mozilla.com/%' THEN 2
            WHEN in_address LIKE 'https://web.push.apple.com/%' THEN 3
            WHEN in_address LIKE 'https://%.notify.windows.com/%' THEN 4
            ELSE 5
        END,
        in_environment, in_external_id, in_user_id, in_address, in_p256dh, in_auth, in_language, in_time_zone,
        in_attributes, in_tags, coalesce(in_registered_at, now()),
        (
            SELECT max(credential.id)
            FROM pushfleet.credential
            WHERE credential.app_id = app.id AND credential.transport = 3
                AND credential.facts ->> 'public_key' = in_vapid_key
        ),
        now()
    FROM pushfleet.app
    WHERE app.id = in_app
    ON CONFLICT (shard, app_id, external_id) DO UPDATE
    SET transport = excluded.transport, service = excluded.service, environment = excluded.environment,
        user_id = excluded.user_id, p256dh = excluded.p256dh, auth = excluded.auth, language = excluded.language,
        time_zone = excluded.time_zone, attributes = excluded.attributes, tags = excluded.tags,
        address = excluded.address, seen_at = excluded.seen_at,
        address_version = known.address_version
            + ((known.transport, known.address) <> (excluded.transport, excluded.address))::int,
        state = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN 1
            -- Signed for with another key than the browser's, which is named now.
            WHEN known.state = 4 AND known.vapid_credential IS DISTINCT FROM excluded.vapid_credential
                AND excluded.vapid_credential IS NOT NULL
                THEN 1
            -- It registered, as it says, after what was said against it.
            WHEN in_registered_at > known.state_since THEN 1
            ELSE known.state
        END,
        vapid_credential = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                THEN excluded.vapid_credential
            ELSE coalesce(excluded.vapid_credential, known.vapid_credential)
        END,
        state_since = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                THEN excluded.registered_at
            WHEN known.state <> 1 AND in_registered_at > known.state_since THEN in_registered_at
            ELSE known.state_since
        END,
        evidence = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN NULL
            WHEN in_registered_at > known.state_since THEN NULL
            ELSE known.evidence
        END,
        registered_at = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                THEN excluded.registered_at
            ELSE greatest(known.registered_at, in_registered_at)
        END
    RETURNING known.xmax = 0 INTO is_new;
    RETURN is_new;
END
$$;

-- Erases an installation: jobs that wait for it are skipped. Whether it was there.
CREATE FUNCTION pushfleet.intake_unregister(in_app bigint, in_external_id text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    DELETE FROM pushfleet.subscriber s
    USING pushfleet.app
    WHERE app.id = in_app AND s.shard = ANY (app.shards) AND s.app_id = app.id AND s.external_id = in_external_id;
    RETURN FOUND;
END
$$;

-- Counts the events of an app that were not counted yet. One result for each event, in the order given: 0 counted,
-- 1 repeated, 2 its run is not one of the app's.
CREATE FUNCTION pushfleet.record_events(
    in_app bigint, in_ids uuid[], in_runs bigint[], in_numbers bigint[], in_kinds smallint[], in_at timestamptz[]
) RETURNS smallint[]
LANGUAGE sql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
    WITH
    given AS MATERIALIZED (
        SELECT e.position, e.event_id, e.run_id, e.number, e.kind,
            date_trunc('hour', greatest(least(coalesce(e.at, now()), now()), run.created_at)) AS hour,
            run.id IS NOT NULL AS is_known,
            row_number() OVER (PARTITION BY e.event_id ORDER BY e.position) AS turn
        FROM unnest(in_ids, in_runs, in_numbers, in_kinds, in_at) WITH ORDINALITY
            AS e (event_id, run_id, number, kind, at, position)
        LEFT JOIN pushfleet.run ON run.id = e.run_id AND run.app_id = in_app
    ),
    fresh AS (
        -- In one order, whoever writes: two batches with the same events wait, and never for each other.
        INSERT INTO pushfleet.event_seen (app_id, event_id)
        SELECT in_app, given.event_id
        FROM given
        WHERE given.is_known AND given.turn = 1
        ORDER BY given.event_id
        ON CONFLICT (app_id, event_id) DO NOTHING
        RETURNING event_id
    ),
    told AS MATERIALIZED (
        SELECT given.hour, given.run_id, given.number, given.kind,
            row_number() OVER (PARTITION BY given.run_id, given.number, given.kind ORDER BY given.position) AS nth
        FROM fresh
        JOIN given ON given.event_id = fresh.event_id AND given.turn = 1
    ),
    first AS (
        INSERT INTO pushfleet.event_first (run_id, number, kind)
        SELECT told.run_id, told.number, told.kind
        FROM told
        WHERE told.nth = 1
        ORDER BY told.run_id, told.number, told.kind
        ON CONFLICT (run_id, number, kind) DO NOTHING
        RETURNING run_id, number, kind
    ),
    counted AS (
        SELECT told.hour, told.run_id, told.kind, count(*) AS events, count(first.number) AS notifications
        FROM told
        LEFT JOIN first
            ON told.nth = 1 AND first.run_id = told.run_id AND first.number = told.number AND first.kind = told.kind
        GROUP BY told.hour, told.run_id, told.kind
    ),
    tallied AS (
        INSERT INTO pushfleet.event_tally AS t (hour, run_id, events, notifications, kind, slot)
        SELECT counted.hour, counted.run_id, counted.events, counted.notifications, counted.kind, pg_backend_pid() % 8
        FROM counted
        ORDER BY counted.run_id, counted.hour, counted.kind
        ON CONFLICT (run_id, hour, kind, slot) DO UPDATE
        SET events = t.events + excluded.events, notifications = t.notifications + excluded.notifications
        RETURNING 1
    )
    SELECT array_agg(
        CASE
            WHEN NOT given.is_known THEN 2
            WHEN given.turn = 1 AND fresh.event_id IS NOT NULL THEN 0
            ELSE 1
        END::smallint
        ORDER BY given.position)
    FROM given
    LEFT JOIN fresh ON fresh.event_id = given.event_id
$$;

-- Clears at most so many events, and marks of notifications, that are older than a day, and tallies as old as others go;
-- how many of whichever were more.
CREATE FUNCTION pushfleet.forget_events(at_most int) RETURNS bigint
LANGUAGE sql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
    WITH
    old AS MATERIALIZED (
        SELECT seen.app_id, seen.event_id
        FROM pushfleet.event_seen seen
        WHERE seen.received_at < now() - interval '1 day'
        LIMIT at_most
        FOR UPDATE SKIP LOCKED
    ),
    cleared AS (
        DELETE FROM pushfleet.event_seen seen
        USING old
        WHERE seen.app_id = old.app_id AND seen.event_id = old.event_id
        RETURNING 1
    ),
    marked AS MATERIALIZED (
        SELECT f.run_id, f.number, f.kind
        FROM pushfleet.event_first f
        WHERE f.received_at < now() - interval '1 day'
        LIMIT at_most
        FOR UPDATE SKIP LOCKED
    ),
    unmarked AS (
        DELETE FROM pushfleet.event_first f
        USING marked
        WHERE f.run_id = marked.run_id AND f.number = marked.number AND f.kind = marked.kind
        RETURNING 1
    ),
    tallies AS (
        DELETE FROM pushfleet.event_tally t
        WHERE t.hour < (SELECT now() - r.keep FROM pushfleet.retention r WHERE r.what = 'tally')
    )
    SELECT greatest((SELECT count(*) FROM cleared), (SELECT count(*) FROM unmarked))
$$;
REVOKE ALL ON FUNCTION pushfleet.intake_caller, pushfleet.intake_register, pushfleet.intake_unregister,
    pushfleet.record_events, pushfleet.forget_events FROM PUBLIC;

-- Wilson's score interval at 95 % (NIST/SEMATECH handbook 7.2.4.1): one bound of it; NULL without trials.
CREATE FUNCTION pushfleet_report.wilson(successes bigint, trials bigint, sign int) RETURNS double precision
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT greatest(0, least(1,
        (p + z2 / (2 * n) + sign * sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))) / (1 + z2 / n)))
    FROM (SELECT successes::double precision / trials AS p, trials::double precision AS n, 3.841458820694124 AS z2) s
    WHERE trials > 0 AND successes BETWEEN 0 AND trials
$$;

CREATE VIEW pushfleet_report.events AS
SELECT run.id AS run_id, app.name AS app, coalesce(campaign.name, 'single notifications') AS name,
    accepted.n AS accepted, counted.delivered, counted.shown, counted.opened, counted.actions, counted.dismissed,
    round(least(counted.opened, accepted.n)::numeric / nullif(accepted.n, 0), 5) AS click_rate,
    round(pushfleet_report.wilson(least(counted.opened, accepted.n), accepted.n, -1)::numeric, 5) AS click_rate_low,
    round(pushfleet_report.wilson(least(counted.opened, accepted.n), accepted.n, 1)::numeric, 5) AS click_rate_high
FROM (
    SELECT t.run_id,
        coalesce(sum(t.notifications) FILTER (WHERE t.kind = 1), 0)::bigint AS delivered,
        coalesce(sum(t.notifications) FILTER (WHERE t.kind = 2), 0)::bigint AS shown,
        coalesce(sum(t.notifications) FILTER (WHERE t.kind = 3), 0)::bigint AS opened,
        coalesce(sum(t.notifications) FILTER (WHERE t.kind = 4), 0)::bigint AS actions,
        coalesce(sum(t.notifications) FILTER (WHERE t.kind = 5), 0)::bigint AS dismissed
    FROM pushfleet.event_tally t
    GROUP BY t.run_id
) counted
JOIN pushfleet.run ON run.id = counted.run_id AND NOT run.is_test
JOIN pushfleet.app ON app.id = run.app_id
LEFT JOIN pushfleet.campaign ON campaign.id = run.campaign_id
CROSS JOIN LATERAL (
    SELECT coalesce(sum(t.n), 0)::bigint AS n FROM pushfleet.tally t WHERE t.run_id = run.id AND t.outcome = 1
) accepted;
COMMENT ON VIEW pushfleet_report.events IS
    'What devices told of each run, and how many of the notifications that providers accepted were opened, with the 95 % interval.';

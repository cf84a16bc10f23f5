-- why: single notifications in the caller's own transaction: notify() and cancel_notification()
-- locks: run and content_version get columns and an index each; a moment's lock, no rewrite
-- safe with workers running: yes
-- lowest binary: 1

-- One standing run for each app, UTC day and in-doubt policy, whoever asks first.
CREATE UNIQUE INDEX run_standing ON pushfleet.run (app_id, occurrence_at, in_doubt) WHERE standing;

-- What notifications say is kept once a day and goes when the day's run has been closed.
ALTER TABLE pushfleet.content_version
    ADD COLUMN standing_run bigint,
    ADD COLUMN digest bytea;
CREATE INDEX content_version_by_digest ON pushfleet.content_version (standing_run, digest)
WHERE standing_run IS NOT NULL;
COMMENT ON COLUMN pushfleet.content_version.standing_run IS 'Set when single notifications brought it.';
COMMENT ON COLUMN pushfleet.content_version.digest IS
    'SHA-256 of message and delivery. Not unique: a caller never waits for another one''s transaction over it.';

-- The devices of one user beyond the first, which bears the notification's id.
CREATE TABLE pushfleet.notification_sibling (
    notification_id bigint NOT NULL,
    sibling_id bigint NOT NULL,
    run_id bigint NOT NULL,
    PRIMARY KEY (notification_id, sibling_id)
);
CREATE INDEX notification_sibling_by_run ON pushfleet.notification_sibling (run_id);

CREATE TABLE pushfleet.idempotency_key (
    app_id bigint NOT NULL,
    key_hash bytea NOT NULL,
    body_hash bytea NOT NULL,
    notification_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, key_hash)
);
CREATE INDEX idempotency_key_by_age ON pushfleet.idempotency_key (created_at);
COMMENT ON TABLE pushfleet.idempotency_key IS 'Kept for seven days. A second caller waits for the first one''s transaction.';

-- Which roles may call the SQL API for an app. Members of a role count.
CREATE TABLE pushfleet.app_caller (
    app_id bigint NOT NULL,
    caller name NOT NULL,
    PRIMARY KEY (app_id, caller)
);

-- Work that few workers should do at once: who polls the transactional lane every few milliseconds.
CREATE TABLE pushfleet.duty (
    name text NOT NULL,
    slot smallint NOT NULL,
    holder uuid,
    held_until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (name, slot)
) WITH (fillfactor = 20);
INSERT INTO pushfleet.duty (name, slot) VALUES ('collect', 1), ('collect', 2);

-- Refuses callers that were not granted the app. The owner of the schema and superusers pass.
CREATE FUNCTION pushfleet.require_caller(which text) RETURNS bigint
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    the_id bigint;
BEGIN
    SELECT a.id INTO the_id FROM pushfleet.app a WHERE a.name = which;
    IF the_id IS NULL THEN
        RAISE EXCEPTION 'app: there is no app %; create it with: pushfleet app create', coalesce(quote_literal(which), 'NULL')
            USING ERRCODE = 'PF404';
    END IF;
    IF pg_has_role(session_user, current_user, 'MEMBER') THEN
        RETURN the_id;
    END IF;
    PERFORM FROM pushfleet.app_caller c
    JOIN pg_roles r ON r.rolname = c.caller
    WHERE c.app_id = the_id AND pg_has_role(session_user, r.oid, 'MEMBER');
    IF NOT FOUND THEN
        RAISE EXCEPTION 'app: role % may not call for app %', quote_ident(session_user), quote_literal(which)
            USING ERRCODE = 'PF403', HINT = 'An owner grants it with: pushfleet app grant';
    END IF;
    RETURN the_id;
END
$$;

-- The run that an app's single notifications of a day belong to. Made ahead of time by the scheduler, so that callers
-- seldom make one: who does holds up others of that day until its transaction ends.
CREATE FUNCTION pushfleet.standing_run(which bigint, day date, policy smallint) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    starts timestamptz := day::timestamp AT TIME ZONE 'UTC';
    the_id bigint;
BEGIN
    SELECT r.id INTO the_id
    FROM pushfleet.run r
    WHERE r.standing AND r.app_id = which AND r.occurrence_at = starts AND r.in_doubt = policy;
    IF the_id IS NOT NULL THEN
        RETURN the_id;
    END IF;
    INSERT INTO pushfleet.run (
        app_id, occurrence_at, lane, standing, in_doubt, announce_window, due_at, expand_at
    )
    VALUES (which, starts, 0, true, policy, CASE policy WHEN 1 THEN 100 ELSE 5000 END, starts, starts)
    ON CONFLICT (app_id, occurrence_at, in_doubt) WHERE standing DO NOTHING
    RETURNING id INTO the_id;
    IF the_id IS NULL THEN
        SELECT r.id INTO STRICT the_id
        FROM pushfleet.run r
        WHERE r.standing AND r.app_id = which AND r.occurrence_at = starts AND r.in_doubt = policy;
        RETURN the_id;
    END IF;
    INSERT INTO pushfleet.run_progress (shard, run_id, expanded)
    SELECT unnest(a.shards), the_id, true FROM pushfleet.app a WHERE a.id = which;
    INSERT INTO pushfleet.lane_clock (shard, lane)
    SELECT unnest(a.shards), 0 FROM pushfleet.app a WHERE a.id = which
    ON CONFLICT (shard, lane) DO NOTHING;
    RETURN the_id;
END
$$;

-- RFC 3339 with an offset; NULL for anything else.
CREATE FUNCTION pushfleet.instant_or_null(value text) RETURNS timestamptz
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
SET datestyle = 'ISO, YMD'
AS $$
BEGIN
    IF value ~ '^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$' THEN
        RETURN value::timestamptz;
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN datetime_field_overflow OR invalid_datetime_format THEN
        RETURN NULL;
END
$$;

-- Called at start and every hour by whichever role is up.
CREATE FUNCTION pushfleet.ensure_standing_runs() RETURNS void
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    SELECT pushfleet.standing_run(a.id, (now() AT TIME ZONE 'UTC')::date + ahead, 0::smallint)
    FROM pushfleet.app a
    CROSS JOIN generate_series(0, 1) ahead
$$;

-- Clears what single notifications left behind: keys after a week, texts and siblings once their run is closed.
CREATE FUNCTION pushfleet.forget_notifications(at_most int) RETURNS int
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH
    keys AS (
        DELETE FROM pushfleet.idempotency_key k
        USING (
            SELECT app_id, key_hash
            FROM pushfleet.idempotency_key
            WHERE created_at < now() - interval '7 days'
            ORDER BY created_at
            LIMIT at_most
            FOR UPDATE SKIP LOCKED
        ) old
        WHERE k.app_id = old.app_id AND k.key_hash = old.key_hash
        RETURNING 1
    ),
    over AS MATERIALIZED (
        SELECT r.id FROM pushfleet.run r WHERE r.standing AND r.closed_at > now() - interval '30 days'
    ),
    versions AS (
        DELETE FROM pushfleet.content_version v
        USING (
            SELECT c.id FROM pushfleet.content_version c JOIN over ON over.id = c.standing_run LIMIT at_most
        ) old
        WHERE v.id = old.id
        RETURNING 1
    ),
    siblings AS (
        DELETE FROM pushfleet.notification_sibling s
        USING (
            SELECT n.notification_id, n.sibling_id
            FROM pushfleet.notification_sibling n
            JOIN over ON over.id = n.run_id
            LIMIT at_most
        ) old
        WHERE s.notification_id = old.notification_id AND s.sibling_id = old.sibling_id
        RETURNING 1
    )
    SELECT ((SELECT count(*) FROM keys) + (SELECT count(*) FROM versions) + (SELECT count(*) FROM siblings))::int
$$;

-- Options of notify(): those of `delivery` in a campaign file, idempotencyKey, notBefore. One row per problem.
CREATE FUNCTION pushfleet.check_options(options jsonb)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT '/options', 'type_invalid', 'must be an object'
    WHERE jsonb_typeof(options) IS DISTINCT FROM 'object'
    UNION ALL
    SELECT '/options/' || o.key,
        CASE WHEN o.key IN (
            'ttlSeconds', 'collapseKey', 'priority', 'inDoubt', 'idempotencyKey', 'notBefore'
        ) THEN 'delivery_invalid' ELSE 'unknown_field' END,
        CASE o.key
            WHEN 'ttlSeconds' THEN 'must be a whole number from 0 to 2419200'
            WHEN 'collapseKey' THEN 'must be 1 to 64 bytes of text'
            WHEN 'priority' THEN 'must be "high" or "normal"'
            WHEN 'inDoubt' THEN 'must be "retry" or "assume_sent"'
            WHEN 'idempotencyKey' THEN 'must be 1 to 255 characters of text'
            WHEN 'notBefore' THEN 'must be an instant within 28 days, such as "2026-12-24T09:00:00Z"'
            ELSE 'is not known; known are ttlSeconds, collapseKey, priority, inDoubt, idempotencyKey, notBefore'
        END
    FROM jsonb_each(CASE jsonb_typeof(options) WHEN 'object' THEN options ELSE '{}' END) o
    WHERE NOT coalesce(CASE o.key
        WHEN 'ttlSeconds' THEN CASE jsonb_typeof(o.value)
            WHEN 'number' THEN o.value::numeric BETWEEN 0 AND 2419200 AND o.value::numeric % 1 = 0
        END
        WHEN 'collapseKey' THEN jsonb_typeof(o.value) = 'string' AND octet_length(o.value #>> '{}') BETWEEN 1 AND 64
        WHEN 'priority' THEN o.value IN ('"high"', '"normal"')
        WHEN 'inDoubt' THEN o.value IN ('"retry"', '"assume_sent"')
        WHEN 'idempotencyKey' THEN jsonb_typeof(o.value) = 'string' AND char_length(o.value #>> '{}') BETWEEN 1 AND 255
        WHEN 'notBefore' THEN jsonb_typeof(o.value) = 'string' AND pushfleet.instant_or_null(o.value #>> '{}')
            BETWEEN clock_timestamp() - interval '1 day' AND clock_timestamp() + interval '28 days'
    END, false)
$$;

CREATE FUNCTION pushfleet.check_recipient(recipient jsonb)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE sql
IMMUTABLE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT '/recipient', 'recipient_invalid',
        'must be {"subscriber": id}, {"externalId": "…"} or {"user": "…"}'
    WHERE NOT coalesce(
        jsonb_typeof(recipient) = 'object'
        AND (SELECT count(*) = 1 FROM jsonb_object_keys(CASE jsonb_typeof(recipient) WHEN 'object' THEN recipient ELSE '{}' END))
        AND CASE
            WHEN recipient ? 'subscriber' THEN jsonb_typeof(recipient -> 'subscriber') = 'number'
                AND (recipient ->> 'subscriber') ~ '^\d{1,18}$'
            WHEN recipient ? 'externalId' THEN jsonb_typeof(recipient -> 'externalId') = 'string'
                AND recipient ->> 'externalId' <> ''
            WHEN recipient ? 'user' THEN jsonb_typeof(recipient -> 'user') = 'string' AND recipient ->> 'user' <> ''
            ELSE false
        END, false)
$$;

-- Queues one notification within the caller's transaction: it is sent if and only if that commits.
CREATE FUNCTION pushfleet.notify(app text, recipient jsonb, message jsonb, options jsonb DEFAULT '{}') RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    the_app bigint := pushfleet.require_caller(notify.app);
    problems jsonb;
    known record;
    body bytea;
    result bigint := nextval(pg_get_serial_sequence('pushfleet.notification', 'id'));
    due timestamptz;
    policy smallint := CASE WHEN options ->> 'inDoubt' = 'assume_sent' THEN 1 ELSE 0 END;
    the_run bigint;
    version bigint;
BEGIN
    SELECT jsonb_agg(jsonb_build_object('pointer', p.pointer, 'code', p.code, 'message', p.problem) ORDER BY p.pointer)
    INTO problems
    FROM (
        SELECT * FROM pushfleet.check_recipient(recipient)
        UNION ALL
        SELECT * FROM pushfleet.check_options(options)
        UNION ALL
        SELECT '/message', 'type_invalid', 'must be an object'
        WHERE jsonb_typeof(message) IS DISTINCT FROM 'object'
    ) p;
    IF problems IS NOT NULL THEN
        RAISE EXCEPTION 'notify: % problem(s), the first at %: %', jsonb_array_length(problems),
            problems #>> '{0,pointer}', problems #>> '{0,message}'
            USING ERRCODE = 'PF400', DETAIL = problems::text;
    END IF;

    IF options ? 'idempotencyKey' THEN
        body := sha256(convert_to(jsonb_build_array(recipient, message, options - 'idempotencyKey')::text, 'UTF8'));
        INSERT INTO pushfleet.idempotency_key (app_id, key_hash, body_hash, notification_id)
        VALUES (the_app, sha256(convert_to(options ->> 'idempotencyKey', 'UTF8')), body, result)
        ON CONFLICT (app_id, key_hash) DO NOTHING;
        IF NOT FOUND THEN
            SELECT k.body_hash, k.notification_id INTO STRICT known
            FROM pushfleet.idempotency_key k
            WHERE k.app_id = the_app AND k.key_hash = sha256(convert_to(options ->> 'idempotencyKey', 'UTF8'));
            IF known.body_hash <> body THEN
                RAISE EXCEPTION 'options.idempotencyKey: it already names notification % with another body; use another key',
                    known.notification_id
                    USING ERRCODE = 'PF409';
            END IF;
            RETURN known.notification_id;
        END IF;
    END IF;

    due := greatest(clock_timestamp(), pushfleet.instant_or_null(options ->> 'notBefore'));
    the_run := pushfleet.standing_run(the_app, (due AT TIME ZONE 'UTC')::date, policy);
    version := pushfleet.keep_message(the_run, message, options - '{idempotencyKey,notBefore,ttlSeconds,inDoubt}'::text[]);
    WITH target AS (
        SELECT s.shard, s.id, row_number() OVER (ORDER BY s.seen_at DESC NULLS LAST, s.id) AS place
        FROM pushfleet.app a
        JOIN pushfleet.subscriber s ON s.shard = ANY (a.shards) AND s.app_id = a.id
        WHERE a.id = the_app
            AND CASE
                WHEN recipient ? 'subscriber' THEN s.id = (recipient ->> 'subscriber')::bigint
                WHEN recipient ? 'externalId' THEN s.external_id = recipient ->> 'externalId'
                ELSE s.user_id = recipient ->> 'user'
            END
    ),
    queued AS (
        INSERT INTO pushfleet.notification (shard, id, run_id, subscriber_id, content_version, due_at, expires_at)
        OVERRIDING SYSTEM VALUE
        SELECT target.shard,
            CASE target.place WHEN 1 THEN result ELSE nextval(pg_get_serial_sequence('pushfleet.notification', 'id')) END,
            the_run, target.id, version, due,
            due + make_interval(secs => coalesce((options ->> 'ttlSeconds')::numeric, 2419200))
        FROM target
        RETURNING id
    )
    INSERT INTO pushfleet.notification_sibling (notification_id, sibling_id, run_id)
    SELECT result, queued.id, the_run FROM queued WHERE queued.id <> result;
    RETURN result;
END
$$;

-- The content version that holds this message in this standing run.
CREATE FUNCTION pushfleet.keep_message(which bigint, message jsonb, delivery jsonb) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    hash bytea := sha256(convert_to(message::text || delivery::text, 'UTF8'));
    the_id bigint;
BEGIN
    SELECT v.id INTO the_id
    FROM pushfleet.content_version v
    WHERE v.standing_run = which AND v.digest = hash
    LIMIT 1;
    IF the_id IS NULL THEN
        INSERT INTO pushfleet.content_version (message, delivery, standing_run, digest)
        VALUES (message, delivery, which, hash)
        RETURNING id INTO the_id;
    END IF;
    RETURN the_id;
END
$$;

-- Takes back what no worker collected yet, on all of a user's devices. How many were taken back: 0 = too late, or unknown.
CREATE FUNCTION pushfleet.cancel_notification(which bigint) RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    one record;
    taken int := 0;
BEGIN
    FOR one IN
        SELECT n.shard, n.id, a.name AS app
        FROM (
            SELECT which AS id
            UNION ALL
            SELECT s.sibling_id FROM pushfleet.notification_sibling s WHERE s.notification_id = which
        ) wanted
        JOIN pushfleet.notification n ON n.id = wanted.id AND n.shard IN (SELECT unnest(shards) FROM pushfleet.app)
        JOIN pushfleet.run r ON r.id = n.run_id
        JOIN pushfleet.app a ON a.id = r.app_id
        ORDER BY n.shard, n.id
    LOOP
        PERFORM pushfleet.require_caller(one.app);
        taken := taken + pushfleet.take_back(one.shard, one.id, 5::smallint);
    END LOOP;
    RETURN taken;
END
$$;

-- Ends one waiting notification with an outcome (5 cancelled, 4 expired): a batch of one, born done.
CREATE FUNCTION pushfleet.take_back(in_shard smallint, which bigint, as_outcome smallint) RETURNS int
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH taken AS (
        DELETE FROM pushfleet.notification n
        WHERE n.shard = in_shard
            AND n.id = (
                SELECT m.id FROM pushfleet.notification m WHERE m.shard = in_shard AND m.id = which FOR UPDATE SKIP LOCKED
            )
        RETURNING n.id, n.run_id, n.subscriber_id, n.content_version, n.due_at, n.expires_at
    ),
    made AS (
        INSERT INTO pushfleet.batch (
            shard, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, content_version,
            size, collected, cancelled, expired, state, origin, marked
        )
        SELECT in_shard, t.run_id, 0, 0, t.due_at, t.expires_at, t.subscriber_id, t.subscriber_id, t.content_version, 1,
            1, (as_outcome = 5)::int, (as_outcome = 4)::int, 2, 0, B'1'
        FROM taken t
        RETURNING id
    ),
    recorded AS (
        INSERT INTO pushfleet.delivery (
            shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version
        )
        SELECT in_shard, t.run_id, t.id, t.subscriber_id, made.id, 0, as_outcome, 0, t.content_version
        FROM taken t
        CROSS JOIN made
        RETURNING number
    )
    SELECT count(*)::int FROM recorded
$$;

REVOKE ALL ON FUNCTION pushfleet.require_caller, pushfleet.standing_run, pushfleet.ensure_standing_runs,
    pushfleet.forget_notifications, pushfleet.check_options,
    pushfleet.instant_or_null, pushfleet.check_recipient, pushfleet.notify, pushfleet.keep_message,
    pushfleet.cancel_notification, pushfleet.take_back FROM PUBLIC;
COMMENT ON FUNCTION pushfleet.notify IS
    'Queues one notification in the caller''s transaction; its id. PF400 invalid (all problems in DETAIL), PF403, PF404, PF409.';
COMMENT ON FUNCTION pushfleet.cancel_notification IS 'Takes back what was not collected yet; how many devices.';

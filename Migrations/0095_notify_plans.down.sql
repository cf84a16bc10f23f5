CREATE OR REPLACE FUNCTION pushfleet.check_options(options jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE sql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT '/options', 'type_invalid', 'must be an object'
    WHERE jsonb_typeof(options) IS DISTINCT FROM 'object'
    UNION ALL
    SELECT '/options/' || o.key,
        CASE WHEN o.key IN (
            'ttlSeconds', 'collapseKey', 'priority', 'inDoubt', 'fcmMode', 'analyticsLabel', 'quietHours', 'bypass',
            'idempotencyKey', 'notBefore'
        ) THEN 'delivery_invalid' ELSE 'unknown_field' END,
        CASE o.key
            WHEN 'ttlSeconds' THEN 'must be a whole number from 0 to 2419200'
            WHEN 'collapseKey' THEN 'must be 1 to 64 bytes of text without control characters'
            WHEN 'priority' THEN 'must be "high" or "normal"'
            WHEN 'inDoubt' THEN 'must be "retry" or "assume_sent"'
            WHEN 'fcmMode' THEN 'must be "data" or "notification"'
            WHEN 'analyticsLabel' THEN 'must be 1 to 50 letters, digits, -, _, ., ~ and %'
            WHEN 'quietHours' THEN 'must be "defer" or "skip"'
            WHEN 'bypass' THEN 'must be {"rules": ["frequency_cap", "quiet_hours"], "reason": "…"}: one rule or both, and '
                '1 to 200 bytes of reason'
            WHEN 'idempotencyKey' THEN 'must be 1 to 255 characters of text'
            WHEN 'notBefore' THEN 'must be an instant within 28 days, such as "2026-12-24T09:00:00Z"'
            ELSE 'is not known; known are ttlSeconds, collapseKey, priority, inDoubt, fcmMode, analyticsLabel, '
                'quietHours, bypass, idempotencyKey, notBefore'
        END
    FROM jsonb_each(CASE jsonb_typeof(options) WHEN 'object' THEN options ELSE '{}' END) o
    WHERE NOT coalesce(CASE o.key
        WHEN 'ttlSeconds' THEN CASE jsonb_typeof(o.value)
            WHEN 'number' THEN o.value::numeric BETWEEN 0 AND 2419200 AND o.value::numeric % 1 = 0
        END
        WHEN 'collapseKey' THEN jsonb_typeof(o.value) = 'string' AND octet_length(o.value #>> '{}') BETWEEN 1 AND 64
            AND o.value #>> '{}' !~ '[\u0001-\u001F\u007F]'
        WHEN 'priority' THEN o.value IN ('"high"', '"normal"')
        WHEN 'inDoubt' THEN o.value IN ('"retry"', '"assume_sent"')
        WHEN 'fcmMode' THEN o.value IN ('"data"', '"notification"')
        WHEN 'analyticsLabel' THEN jsonb_typeof(o.value) = 'string' AND o.value #>> '{}' ~ '^[A-Za-z0-9_.~%-]{1,50}$'
        WHEN 'quietHours' THEN o.value IN ('"defer"', '"skip"')
        WHEN 'bypass' THEN pushfleet.is_bypass(o.value)
        WHEN 'idempotencyKey' THEN jsonb_typeof(o.value) = 'string' AND char_length(o.value #>> '{}') BETWEEN 1 AND 255
        WHEN 'notBefore' THEN jsonb_typeof(o.value) = 'string' AND pushfleet.instant_or_null(o.value #>> '{}')
            BETWEEN clock_timestamp() - interval '1 day' AND clock_timestamp() + interval '28 days'
    END, false)
$_$;

CREATE OR REPLACE FUNCTION pushfleet.check_recipient(recipient jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
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
$_$;

CREATE OR REPLACE FUNCTION pushfleet.pointer_step(key text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT '/' || replace(replace(key, '~', '~0'), '/', '~1')
$$;

CREATE OR REPLACE FUNCTION pushfleet.is_blank(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT btrim(value, pushfleet.white_space()) = ''
$$;

CREATE OR REPLACE FUNCTION pushfleet.notify(
    app text, recipient jsonb, message jsonb, options jsonb DEFAULT '{}'::jsonb
)
RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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
    said jsonb;
    delivery CONSTANT jsonb := options - '{idempotencyKey,notBefore,ttlSeconds,inDoubt}'::text[];
    rules smallint;
BEGIN
    SELECT jsonb_agg(
        jsonb_build_object('pointer', p.pointer, 'code', p.code, 'message', p.problem)
        ORDER BY p.pointer COLLATE "C", p.code)
    INTO problems
    FROM (
        SELECT * FROM pushfleet.check_recipient(recipient)
        UNION ALL
        SELECT * FROM pushfleet.check_options(options)
        UNION ALL
        SELECT * FROM pushfleet.message_problems(message, '/message')
        UNION ALL
        SELECT '/message/template', 'template_unknown', 'is not the name of a template of the app'
        WHERE jsonb_typeof(notify.message -> 'template') = 'string' AND NOT EXISTS (
            SELECT FROM pushfleet.template t WHERE t.app_id = the_app AND t.name = notify.message ->> 'template'
        )
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
                RAISE EXCEPTION
                    'options.idempotencyKey: it already names notification % with another body; use another key',
                    known.notification_id
                    USING ERRCODE = 'PF409';
            END IF;
            RETURN known.notification_id;
        END IF;
    END IF;

    due := greatest(clock_timestamp(), pushfleet.instant_or_null(options ->> 'notBefore'));
    the_run := pushfleet.standing_run(the_app, (due AT TIME ZONE 'UTC')::date, policy);
    said := pushfleet.resolve_message(the_app, message);
    version := pushfleet.keep_message(the_run, said, delivery);
    rules := pushfleet.exempt_rules(said, delivery);
    -- Looked for first, so that no row grows with the calls, and no caller waits for another over it.
    IF options ? 'bypass' AND NOT EXISTS (
        SELECT FROM pushfleet.bypass b WHERE b.content_version = version AND b.caller = session_user
    ) THEN
        INSERT INTO pushfleet.bypass (app_id, run_id, content_version, rules, reason)
        VALUES (the_app, the_run, version, pushfleet.exempt_rules('{}', delivery), options #>> '{bypass,reason}');
    END IF;
    WITH target AS (
        SELECT s.shard, s.id, row_number() OVER (ORDER BY s.seen_at DESC NULLS LAST, s.id) AS place,
            -- What would be skipped is so by the worker, who records it.
            CASE
                WHEN a.quiet_from IS NOT NULL AND rules & 2 = 0
                    AND coalesce(options ->> 'quietHours' = 'defer', a.quiet_policy = 0)
                THEN pushfleet.quiet_end(due, s.time_zone, a.time_zone, a.quiet_from, a.quiet_until)
            END AS quiet_end
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
            CASE target.place
                WHEN 1 THEN result
                ELSE nextval(pg_get_serial_sequence('pushfleet.notification', 'id'))
            END,
            the_run, target.id, version, coalesce(target.quiet_end, due),
            coalesce(target.quiet_end, due)
                + make_interval(secs => coalesce((options ->> 'ttlSeconds')::numeric, 2419200))
        FROM target
        RETURNING id
    )
    INSERT INTO pushfleet.notification_sibling (notification_id, sibling_id, run_id)
    SELECT result, queued.id, the_run FROM queued WHERE queued.id <> result;
    RETURN result;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.notify(app text, recipient jsonb, message jsonb, options jsonb DEFAULT '{}'::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
    the_app bigint := pushfleet.require_caller(notify.app);
    problems jsonb;
    known record;
    body bytea;
    result bigint := nextval('pushfleet.notification_id_seq');
    due timestamptz;
    policy smallint := CASE WHEN options ->> 'inDoubt' = 'assume_sent' THEN 1 ELSE 0 END;
    the_run bigint;
    version bigint;
    said jsonb;
    delivery CONSTANT jsonb := options - '{idempotencyKey,notBefore,ttlSeconds,inDoubt}'::text[];
    rules smallint;
    the_shards smallint[] := (SELECT a.shards FROM pushfleet.app a WHERE a.id = the_app);
BEGIN
    SELECT jsonb_agg(
        jsonb_build_object('pointer', p.pointer, 'code', p.code, 'message', p.problem)
        ORDER BY p.pointer COLLATE "C", p.code)
    INTO problems
    FROM (
        SELECT * FROM pushfleet.check_recipient(recipient)
        UNION ALL
        SELECT * FROM pushfleet.check_options(options) WHERE options IS DISTINCT FROM '{}'
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
    WITH named AS (
        -- By one of three indexes, whichever the recipient names.
        SELECT s.shard, s.id, s.seen_at, s.time_zone
        FROM pushfleet.subscriber s
        WHERE recipient ? 'subscriber' AND s.shard = ANY (the_shards) AND s.app_id = the_app
            AND s.id = (recipient ->> 'subscriber')::bigint
        UNION ALL
        SELECT s.shard, s.id, s.seen_at, s.time_zone
        FROM pushfleet.subscriber s
        WHERE recipient ? 'externalId' AND s.shard = ANY (the_shards) AND s.app_id = the_app
            AND s.external_id = recipient ->> 'externalId'
        UNION ALL
        SELECT s.shard, s.id, s.seen_at, s.time_zone
        FROM pushfleet.subscriber s
        WHERE recipient ? 'user' AND s.shard = ANY (the_shards) AND s.app_id = the_app
            AND s.user_id = recipient ->> 'user'
    ),
    target AS (
        SELECT named.shard, named.id, row_number() OVER (ORDER BY named.seen_at DESC NULLS LAST, named.id) AS place,
            -- What would be skipped is so by the worker, who records it.
            CASE
                WHEN a.quiet_from IS NOT NULL AND rules & 2 = 0
                    AND coalesce(options ->> 'quietHours' = 'defer', a.quiet_policy = 0)
                THEN pushfleet.quiet_end(due, named.time_zone, a.time_zone, a.quiet_from, a.quiet_until)
            END AS quiet_end
        FROM pushfleet.app a
        CROSS JOIN named
        WHERE a.id = the_app
    ),
    queued AS (
        INSERT INTO pushfleet.notification (shard, id, run_id, subscriber_id, content_version, due_at, expires_at)
        OVERRIDING SYSTEM VALUE
        SELECT target.shard,
            CASE target.place
                WHEN 1 THEN result
                ELSE nextval('pushfleet.notification_id_seq')
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

CREATE OR REPLACE FUNCTION pushfleet.check_options(options jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
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
    END, false);
END
$_$;

CREATE OR REPLACE FUNCTION pushfleet.instant_or_null(value text) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    SET "DateStyle" TO 'ISO, YMD'
    AS $_$
BEGIN
    IF value ~ '^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$' THEN
        RETURN value::timestamptz;
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN datetime_field_overflow OR invalid_datetime_format THEN
        RETURN NULL;
END
$_$;

CREATE OR REPLACE FUNCTION pushfleet.ensure_standing_runs() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT pushfleet.standing_run(a.id, (now() AT TIME ZONE 'UTC')::date + ahead, 0::smallint)
    FROM pushfleet.app a
    CROSS JOIN generate_series(0, 1) ahead
$$;

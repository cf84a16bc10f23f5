-- The schema that the migrations give. Made by Scripts/schema-dump; do not edit, do not merge: run that again.

CREATE SCHEMA pushfleet;

CREATE SCHEMA pushfleet_report;

COMMENT ON SCHEMA pushfleet_report IS 'What anybody may see: no address, no key, no attribute. Views stay as they are.';

CREATE FUNCTION pushfleet.accept_tokens(app text, credential text, from_at timestamp with time zone, to_at timestamp with time zone) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH chosen AS MATERIALIZED (
        SELECT c.id
        FROM pushfleet.credential c
        JOIN pushfleet.app a ON a.id = c.app_id
        WHERE a.name = accept_tokens.app AND c.name = accept_tokens.credential
    ),
    accepted AS (
        UPDATE pushfleet.token_change t
        SET verdict = 1, verdict_at = now()
        FROM chosen
        WHERE t.credential_id = chosen.id
            AND t.at >= accept_tokens.from_at
            AND t.at < accept_tokens.to_at
            AND t.verdict IN (0, 4)
            AND t.evidence = 1
        RETURNING t.shard, t.subscriber_id, t.address_version, t.at
    ),
    closed AS (
        UPDATE pushfleet.token_wave w
        SET state = 2, decided_at = now()
        FROM chosen
        WHERE w.credential_id = chosen.id
            AND w.state = 0
            AND w.from_at < accept_tokens.to_at
            AND w.to_at > accept_tokens.from_at
    ),
    retired AS (
        UPDATE pushfleet.subscriber s
        SET state = 3, state_since = now()
        FROM accepted
        WHERE s.shard = accepted.shard
            AND s.id = accepted.subscriber_id
            AND s.address_version = accepted.address_version
            AND s.state = 5
            AND s.state_since = accepted.at
        RETURNING 1
    )
    SELECT count(*) FROM retired
$$;

COMMENT ON FUNCTION pushfleet.accept_tokens(app text, credential text, from_at timestamp with time zone, to_at timestamp with time zone) IS 'Retires what a wave holds from one instant to the other; how many.';

CREATE FUNCTION pushfleet.action_problems(value jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
    WITH button AS (
        SELECT element.value, at || '/' || element.ordinality - 1 AS at, element.ordinality AS place,
            coalesce(element.value -> 'id', '""') AS id,
            coalesce(
                element.value ->> 'id' ~ '^[a-z0-9_-]{1,32}$' AND jsonb_typeof(element.value -> 'id') = 'string', false)
                AS has_id
        FROM jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE '[]' END)
            WITH ORDINALITY AS element
    ),
    object AS (
        SELECT button.value, button.at, button.place, button.id, button.has_id FROM button
        WHERE jsonb_typeof(button.value) = 'object'
    )
    SELECT at, 'type_invalid', 'must be an array' WHERE jsonb_typeof(value) <> 'array'
    UNION ALL
    SELECT at, 'actions_too_many', 'has more than 3 buttons' WHERE (SELECT count(*) FROM button) > 3
    UNION ALL
    SELECT p.pointer, p.code, p.problem
    FROM button, pushfleet.member_problems(button.value, button.at, '{id,title,url}') p
    UNION ALL
    SELECT object.at || '/id',
        CASE jsonb_typeof(object.id) WHEN 'string' THEN 'action_id_invalid' ELSE 'type_invalid' END,
        'must be 1 to 32 of a-z, 0-9, _ and -'
    FROM object
    WHERE NOT object.has_id
    UNION ALL
    SELECT object.at || '/id', 'action_id_duplicate', 'is another button''s id'
    FROM object
    WHERE object.has_id
        AND EXISTS (SELECT FROM object earlier WHERE earlier.place < object.place AND earlier.id = object.id)
    UNION ALL
    SELECT p.pointer, p.code, p.problem
    FROM object,
        pushfleet.text_problems(
            object.value -> 'title', object.at || '/title', 40, 'action_title_missing', 'action_title_too_long',
            false) p
    UNION ALL
    SELECT p.pointer, p.code, p.problem
    FROM object, pushfleet.link_problems(object.value -> 'url', object.at || '/url') p;
END
$_$;

CREATE FUNCTION pushfleet.add_sums(hours timestamp with time zone[], runs bigint[], routes bigint[], outcomes smallint[], counts bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.audit(which bigint) RETURNS TABLE(problem text, shard smallint, batch_id bigint, expected bigint, found bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET max_parallel_workers_per_gather TO '0'
    SET jit TO 'off'
    AS $$
    WITH
    span AS MATERIALIZED (
        -- With seconds to spare: for a clock that was set, and for what should not be there.
        SELECT run.created_at - interval '5 s' AS since, coalesce(run.closed_at + interval '10 s', 'infinity') AS upto
        FROM pushfleet.run
        WHERE run.id = which
    ),
    counted AS MATERIALIZED (
        -- In one pass: by batch and outcome, and of the numbers only those that stand twice.
        SELECT d.shard, d.batch_id, d.outcome, d.number, count(*) AS n, min(d.shard) AS one_shard,
            min(d.batch_id) AS one_batch
        FROM pushfleet.delivery d
        WHERE d.run_id = which AND d.at >= (SELECT span.since FROM span) AND d.at < (SELECT span.upto FROM span)
        GROUP BY GROUPING SETS ((d.shard, d.batch_id, d.outcome), (d.number))
        HAVING grouping(d.number) = 1 OR count(*) > 1
    ),
    outcomes AS (
        SELECT counted.shard, counted.batch_id, counted.outcome, counted.n FROM counted WHERE counted.number IS NULL
    ),
    jobs AS MATERIALIZED (
        SELECT b.shard, b.id AS batch_id, own.n, own.ordinals
        FROM pushfleet.batch b
        CROSS JOIN LATERAL (
            SELECT count(*) AS n, count(DISTINCT j.ordinal) AS ordinals
            FROM pushfleet.job j
            WHERE j.shard = b.shard AND j.bucket_id = b.bucket_id AND j.batch_id = b.id AND j.run_id = which
        ) own
        WHERE b.run_id = which
    )
    SELECT 'jobs of a batch', b.shard, b.id, b.size::bigint, coalesce(jobs.n, 0)
    FROM pushfleet.batch b
    LEFT JOIN jobs ON jobs.shard = b.shard AND jobs.batch_id = b.id
    WHERE b.run_id = which
        AND b.bucket_id IN (SELECT bucket.id FROM pushfleet.bucket)
        AND (coalesce(jobs.n, 0) <> b.size OR coalesce(jobs.ordinals, 0) <> b.size)
    UNION ALL
    SELECT 'deliveries of a batch, outcome ' || t.outcome, b.shard, b.id, t.n::bigint, coalesce(outcomes.n, 0)
    FROM pushfleet.batch b
    CROSS JOIN LATERAL (
        VALUES
            (1, b.delivered),
            (2, b.failed),
            (3, b.unregistered),
            (4, b.expired),
            (5, b.cancelled),
            (6, b.skipped),
            (7, b.in_doubt)
    ) t (outcome, n)
    LEFT JOIN outcomes
        ON outcomes.shard = b.shard AND outcomes.batch_id = b.id AND outcomes.outcome = t.outcome
    WHERE b.run_id = which AND coalesce(outcomes.n, 0) <> t.n
    UNION ALL
    SELECT 'deliveries without a batch', outcomes.shard, outcomes.batch_id, 0, outcomes.n
    FROM outcomes
    WHERE NOT EXISTS (
        SELECT FROM pushfleet.batch b
        WHERE b.shard = outcomes.shard AND b.id = outcomes.batch_id AND b.run_id = which
    )
    UNION ALL
    SELECT 'number ' || counted.number || ' has several outcomes', counted.one_shard, counted.one_batch, 1, counted.n
    FROM counted
    WHERE counted.number IS NOT NULL
    UNION ALL
    SELECT 'outcomes and targeted, all open work being done', a.shard, NULL, a.targeted::bigint, total.n
    FROM pushfleet.accounting_shard a
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(outcomes.n), 0)::bigint AS n FROM outcomes WHERE outcomes.shard = a.shard
    ) total
    WHERE a.run_id = which AND a.pending + a.leased + a.retrying = 0 AND a.targeted <> total.n
    UNION ALL
    SELECT 'open batch of a closed run', b.shard, b.id, 0, (b.size - b.settled)::bigint
    FROM pushfleet.run
    JOIN pushfleet.batch b ON b.run_id + 0 = run.id AND b.state * 1 <> 2
    WHERE run.id = which AND run.closed_at IS NOT NULL
    UNION ALL
    -- Its progress goes with its batches, and then there is nothing to compare.
    SELECT 'targeted of a closed run', NULL, NULL, t.targeted, pages.targeted + own.collected
    FROM pushfleet.run_total t
    CROSS JOIN LATERAL (
        SELECT sum(p.targeted)::bigint AS targeted FROM pushfleet.run_progress p WHERE p.run_id = t.run_id
    ) pages
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(b.collected), 0)::bigint AS collected FROM pushfleet.batch b WHERE b.run_id = t.run_id
    ) own
    WHERE t.run_id = which AND t.targeted <> pages.targeted + own.collected
$$;

COMMENT ON FUNCTION pushfleet.audit(which bigint) IS 'Counts the rows of a run against its batches: a row is a defect.';

CREATE FUNCTION pushfleet.audit_next() RETURNS TABLE(run_id bigint, problems integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    next_run bigint;
    problem_count int;
BEGIN
    SELECT t.run_id INTO next_run
    FROM pushfleet.run_total t
    WHERE t.audited_at IS NULL
    ORDER BY t.run_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF next_run IS NULL THEN
        RETURN;
    END IF;
    SELECT count(*)::int INTO problem_count FROM pushfleet.audit(next_run);
    UPDATE pushfleet.run_total t SET audited_at = now(), audit_problems = problem_count WHERE t.run_id = next_run;
    RETURN QUERY SELECT next_run, problem_count;
END
$$;

CREATE FUNCTION pushfleet.base64_bytes(value text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT CASE
        WHEN bare ~ '^[A-Za-z0-9+/_-]*$' AND char_length(bare) % 4 <> 1
        THEN decode(translate(bare, '-_', '+/') || repeat('=', (4 - char_length(bare) % 4) % 4), 'base64')
    END
    FROM rtrim(value, '=') AS bare
$_$;

CREATE FUNCTION pushfleet.campaign_problems(campaign jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    file CONSTANT jsonb := CASE jsonb_typeof(campaign) WHEN 'object' THEN campaign ELSE '{}' END;
    delivery CONSTANT jsonb := file -> 'delivery';
    variants CONSTANT jsonb := CASE jsonb_typeof(file -> 'variants') WHEN 'array' THEN file -> 'variants' ELSE '[]' END;
BEGIN
    IF campaign IS NULL OR jsonb_typeof(campaign) <> 'object' THEN
        RETURN QUERY SELECT '', 'type_invalid', 'must be an object';
        RETURN;
    ELSIF octet_length(campaign::text) > 1048576 THEN
        RETURN QUERY SELECT '', 'file_too_large', 'has more than 1048576 bytes';
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM pushfleet.member_problems(
        campaign, '',
        '{app,name,idempotencyKey,message,variants,holdout,delivery,audience,schedule,throttle,queue}');
    RETURN QUERY
    SELECT * FROM pushfleet.text_problems(file -> 'app', '/app', 200, 'field_missing', 'field_invalid', false);
    RETURN QUERY SELECT p.pointer, p.code, p.problem
    FROM pushfleet.text_problems(file -> 'name', '/name', 200, 'field_missing', 'field_invalid', false) p
    WHERE p.code <> 'placeholder_not_allowed';
    RETURN QUERY
    SELECT '/idempotencyKey', 'field_invalid', 'must be 1 to 200 bytes of text'
    WHERE file ? 'idempotencyKey' AND NOT coalesce(
        jsonb_typeof(file -> 'idempotencyKey') = 'string' AND NOT pushfleet.is_blank(file ->> 'idempotencyKey')
        AND octet_length(file ->> 'idempotencyKey') <= 200, false);
    IF file ? 'message' THEN
        RETURN QUERY SELECT * FROM pushfleet.message_problems(file -> 'message', '/message');
    ELSIF NOT file ? 'variants' THEN
        RETURN QUERY SELECT '/message', 'content_missing', 'is missing';
    END IF;
    RETURN QUERY
    SELECT p.pointer, p.code, p.problem
    FROM jsonb_array_elements(variants) WITH ORDINALITY AS v,
        pushfleet.message_problems(v.value -> 'message', '/variants/' || v.ordinality - 1 || '/message') p;
    RETURN QUERY
    SELECT '/' || named.key, CASE named.key WHEN 'variants' THEN 'variant_invalid' ELSE 'type_invalid' END,
        named.problem
    FROM (
        VALUES
        ('variants', 'must be an array of 1 to 10 variants',
            jsonb_typeof(file -> 'variants') = 'array' AND jsonb_array_length(variants) BETWEEN 1 AND 10),
        ('audience', 'must be an object', jsonb_typeof(file -> 'audience') = 'object'),
        ('schedule', 'must be an object', jsonb_typeof(file -> 'schedule') = 'object'),
        ('throttle', 'must be an object', jsonb_typeof(file -> 'throttle') = 'object'),
        ('queue', 'must be an object', jsonb_typeof(file -> 'queue') = 'object'),
        ('holdout', 'must be a number', jsonb_typeof(file -> 'holdout') = 'number')
    ) AS named (key, problem, is_right)
    WHERE file ? named.key AND NOT named.is_right;
    IF delivery IS NOT NULL THEN
        RETURN QUERY
        SELECT '/delivery' || substr(p.pointer, 9), p.code, p.problem
        FROM pushfleet.check_options(CASE jsonb_typeof(delivery)
            WHEN 'object' THEN delivery - '{perUser,idempotencyKey,notBefore}'::text[]
            ELSE delivery END) p;
        RETURN QUERY
        SELECT '/delivery/' || k.key, 'unknown_field', 'is not known here'
        FROM unnest('{idempotencyKey,notBefore}'::text[]) AS k (key)
        WHERE jsonb_typeof(delivery) = 'object' AND delivery ? k.key;
        RETURN QUERY
        SELECT '/delivery/perUser', 'delivery_invalid', 'must be "all" or "newest"'
        WHERE delivery -> 'perUser' NOT IN ('"all"', '"newest"');
    END IF;
END
$$;

CREATE FUNCTION pushfleet.campaign_state(which bigint) RETURNS TABLE(state text, problems jsonb, run_id bigint, run_status text, due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    owner text := (
        SELECT a.name FROM pushfleet.campaign c JOIN pushfleet.app a ON a.id = c.app_id WHERE c.id = which
    );
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    PERFORM pushfleet.require_caller(owner);
    RETURN QUERY
    SELECT c.state, c.problems, r.id, pushfleet_report.run_status_name(r.status), r.due_at
    FROM pushfleet_report.campaigns c
    LEFT JOIN pushfleet.run r ON r.campaign_id = c.campaign_id AND NOT r.is_test
    WHERE c.campaign_id = which
    ORDER BY r.due_at, r.id;
END
$$;

COMMENT ON FUNCTION pushfleet.campaign_state(which bigint) IS 'Of a campaign: waiting (to be checked), active, refused with its problems, or over; a row for each of its runs. PF403.';

CREATE FUNCTION pushfleet.cancel(which bigint) RETURNS TABLE(delivered bigint, in_flight_at_most bigint, stopped bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    RETURN QUERY
    SELECT answer.delivered, answer.in_flight_at_most, answer.stopped
    FROM pushfleet.stop(which) AS done (yes)
    CROSS JOIN LATERAL pushfleet.stopped(which) AS answer
    WHERE done.yes;
END
$$;

COMMENT ON FUNCTION pushfleet.cancel(which bigint) IS 'Ends a run for good: how many were delivered, are in flight at most, were stopped. No row: it is over.';

CREATE FUNCTION pushfleet.cancel_notification(which bigint) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

COMMENT ON FUNCTION pushfleet.cancel_notification(which bigint) IS 'Takes back what was not collected yet; how many devices.';

CREATE FUNCTION pushfleet.check_message(message jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
    SELECT p.pointer, p.code, p.problem
    FROM pushfleet.message_problems(message, '/message') p
    ORDER BY p.pointer COLLATE "C", p.code COLLATE "C";
END
$$;

COMMENT ON FUNCTION pushfleet.check_message(message jsonb) IS 'Everything wrong with a message that SQL can tell: all but sizes, and counts of characters near a limit.';

CREATE FUNCTION pushfleet.check_options(options jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
    SELECT '/options', 'type_invalid', 'must be an object'
    WHERE jsonb_typeof(options) IS DISTINCT FROM 'object'
    UNION ALL
    SELECT '/options' || pushfleet.pointer_step(o.key),
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

CREATE FUNCTION pushfleet.check_recipient(recipient jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
    SELECT '/recipient', 'recipient_invalid',
        'must be {"subscriber": id}, {"externalId": "…"} or {"user": "…"}'
    WHERE NOT coalesce(
        jsonb_typeof(recipient) = 'object'
        AND (
            SELECT count(*) = 1
            FROM jsonb_object_keys(CASE jsonb_typeof(recipient) WHEN 'object' THEN recipient ELSE '{}' END)
        )
        AND CASE
            WHEN recipient ? 'subscriber' THEN jsonb_typeof(recipient -> 'subscriber') = 'number'
                AND (recipient ->> 'subscriber') ~ '^\d{1,18}$'
            WHEN recipient ? 'externalId' THEN jsonb_typeof(recipient -> 'externalId') = 'string'
                AND recipient ->> 'externalId' <> ''
            WHEN recipient ? 'user' THEN jsonb_typeof(recipient -> 'user') = 'string' AND recipient ->> 'user' <> ''
            ELSE false
        END, false);
END
$_$;

CREATE FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer) RETURNS TABLE(id bigint, run_id bigint, route_id bigint, bucket_id integer, epoch integer, size integer, announced smallint, marked bit varying, lapses smallint, content_version bigint, expires_at timestamp with time zone, in_doubt smallint, announce_window smallint, is_collected boolean, lane smallint, max_attempts smallint, horizon_ms bigint, run_rate integer, route_rate integer, app_rate integer, is_limited boolean, content_versions bigint[])
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
    SELECT c.id, c.run_id, c.route_id, c.bucket_id, c.epoch, c.size, c.announced, c.marked, c.lapses, c.content_version,
        c.expires_at, c.in_doubt, c.announce_window, c.is_collected, c.lane, c.max_attempts, c.horizon_ms, c.run_rate,
        c.route_rate, c.app_rate, c.is_limited, c.content_versions
    FROM pushfleet.collect(in_shard, by_worker, as_claim, at_most, '{}') c;
END
$$;

CREATE FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer, without bigint[]) RETURNS TABLE(id bigint, run_id bigint, route_id bigint, bucket_id integer, epoch integer, size integer, announced smallint, marked bit varying, lapses smallint, content_version bigint, expires_at timestamp with time zone, in_doubt smallint, announce_window smallint, is_collected boolean, lane smallint, max_attempts smallint, horizon_ms bigint, run_rate integer, route_rate integer, app_rate integer, is_limited boolean, content_versions bigint[])
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
DECLARE
    candidates bigint[] := ARRAY(SELECT pushfleet.due_notifications(in_shard, 8 * at_most, without));
BEGIN
    IF candidates = '{}' THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT n.id
        FROM pushfleet.notification n
        WHERE n.shard = in_shard
            AND n.id = ANY (candidates)
            -- Put off meanwhile, it waits.
            AND n.due_at <= clock_timestamp()
            AND EXISTS (SELECT FROM pushfleet.worker w WHERE w.id = by_worker AND w.lease_until > now())
        ORDER BY n.due_at, n.id
        LIMIT at_most
        FOR UPDATE OF n SKIP LOCKED
    ),
    taken AS (
        DELETE FROM pushfleet.notification n
        USING due
        WHERE n.shard = in_shard AND n.id = due.id
        RETURNING n.id, n.run_id, n.subscriber_id, n.content_version, n.due_at, n.expires_at
    ),
    placed AS MATERIALIZED (
        SELECT taken.*, coalesce(route.id, 0) AS route_id,
            CASE
                WHEN s.id IS NULL THEN 3
                WHEN s.state > 2 THEN 1
                WHEN s.transport = 3 AND (
                    -- A browser, and nothing to show it.
                    SELECT version.message -> 'silent' = 'true'
                    FROM pushfleet.content_version version
                    WHERE version.id = taken.content_version
                ) THEN 7
                WHEN route.id IS NULL THEN 2
                ELSE 0
            END AS skip,
            run.announce_window, run.in_doubt, run.lane
        FROM taken
        JOIN pushfleet.run ON run.id = taken.run_id
        LEFT JOIN pushfleet.subscriber s ON s.shard = in_shard AND s.id = taken.subscriber_id
        LEFT JOIN pushfleet.route
            ON route.app_id = run.app_id
            AND route.transport = s.transport
            AND route.service = s.service
            AND route.state <> 2
    ),
    cut AS MATERIALIZED (
        SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id, g.*,
            (SELECT max(bucket.id) FROM pushfleet.bucket WHERE bucket.sealed_at IS NULL) AS bucket_id
        FROM (
            SELECT p.run_id, p.route_id, p.skip > 0 AS is_skipped, p.announce_window, p.in_doubt, p.lane,
                count(*)::int AS n, min(p.due_at) AS due_at, max(p.expires_at) AS expires_at,
                min(p.subscriber_id) AS first_id, max(p.subscriber_id) AS last_id,
                array_agg(DISTINCT p.content_version) AS versions
            FROM placed p
            GROUP BY p.run_id, p.route_id, p.skip > 0, p.announce_window, p.in_doubt, p.lane
        ) g
    ),
    ranked AS MATERIALIZED (
        SELECT p.*, cut.batch_id, cut.bucket_id,
            (row_number() OVER (PARTITION BY cut.batch_id ORDER BY p.id) - 1)::smallint AS ordinal
        FROM placed p
        JOIN cut ON cut.run_id = p.run_id AND cut.route_id = p.route_id AND cut.is_skipped = (p.skip > 0)
    ),
    pair AS (
        -- So that the ordinary claim finds what is rescued or retried.
        INSERT INTO pushfleet.run_route (shard, run_id, route_id, lane)
        SELECT DISTINCT in_shard, cut.run_id, cut.route_id, cut.lane
        FROM cut
        WHERE NOT cut.is_skipped
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.run_route known
                WHERE known.shard = in_shard
                    AND known.run_id = cut.run_id
                    AND known.route_id = cut.route_id
            )
        ORDER BY 2, 3
        ON CONFLICT (shard, run_id, route_id) DO NOTHING
    ),
    jobs AS (
        INSERT INTO pushfleet.job (
            shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal, content_version, expires_at
        )
        SELECT in_shard, k.bucket_id, k.batch_id, k.run_id, k.id, k.subscriber_id, k.ordinal,
            k.content_version, k.expires_at
        FROM ranked k
        WHERE k.skip = 0
        RETURNING batch_id
    ),
    skips AS (
        INSERT INTO pushfleet.delivery (
            shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, reason, content_version
        )
        SELECT in_shard, k.run_id, k.id, k.subscriber_id, k.batch_id, k.ordinal, 6, 0, k.skip,
            k.content_version
        FROM ranked k
        WHERE k.skip > 0
        RETURNING batch_id
    ),
    counted AS MATERIALIZED (
        SELECT jobs.batch_id, count(*)::int AS n FROM jobs GROUP BY jobs.batch_id
        UNION ALL
        SELECT skips.batch_id, count(*)::int FROM skips GROUP BY skips.batch_id
    ),
    made AS (
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, holder, first_subscriber_id, last_subscriber_id,
            content_version, bucket_id, epoch, claim_no, size, collected, skipped, state, origin, announced, marked
        )
        SELECT in_shard, cut.batch_id, cut.run_id, cut.route_id, 0, cut.due_at, cut.expires_at,
            CASE WHEN NOT cut.is_skipped THEN by_worker END, cut.first_id, cut.last_id, cut.versions[1],
            CASE WHEN NOT cut.is_skipped THEN cut.bucket_id END, 1, as_claim, counted.n, cut.n,
            CASE WHEN cut.is_skipped THEN counted.n ELSE 0 END, CASE WHEN cut.is_skipped THEN 2 ELSE 1 END, 0,
            CASE WHEN cut.is_skipped THEN 0 ELSE least(counted.n, cut.announce_window) END,
            repeat(CASE WHEN cut.is_skipped THEN '1' ELSE '0' END, counted.n)::varbit
        FROM cut
        JOIN counted USING (batch_id)
        RETURNING id, run_id, route_id, bucket_id, epoch, size, announced, marked, lapses, content_version,
            expires_at, state
    )
    SELECT made.id, made.run_id, made.route_id, made.bucket_id, made.epoch, made.size, made.announced, made.marked,
        made.lapses, made.content_version, made.expires_at, cut.in_doubt, cut.announce_window, true, cut.lane,
        run.max_attempts, (extract(epoch FROM run.retry_horizon) * 1000)::bigint, run.rate,
        pushfleet.route_rate(
            route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, now()),
        app.rate, app.cap_most IS NOT NULL OR app.quiet_from IS NOT NULL, cut.versions
    FROM made
    JOIN cut ON cut.batch_id = made.id
    JOIN pushfleet.run ON run.id = made.run_id
    JOIN pushfleet.route ON route.id = made.route_id
    JOIN pushfleet.app ON app.id = run.app_id
    WHERE made.state = 1;
END
$$;

CREATE FUNCTION pushfleet.complete_content_version() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    resolved jsonb;
BEGIN
    NEW.app_id := coalesce(
        NEW.app_id,
        (SELECT c.app_id FROM pushfleet.campaign c WHERE c.id = NEW.campaign_id),
        (SELECT run.app_id FROM pushfleet.run WHERE run.id = (to_jsonb(NEW) ->> 'standing_run')::bigint));
    IF NEW.app_id IS NULL THEN
        RETURN NEW;
    END IF;
    resolved := pushfleet.resolve_message(NEW.app_id, NEW.message);
    IF resolved <> NEW.message THEN
        -- Found again by what it was called, it would outlive the template's next version.
        IF to_jsonb(NEW) ? 'digest' THEN
            NEW.digest := NULL;
        END IF;
        NEW.message := resolved;
    END IF;
    IF NEW.channel IS NULL THEN
        NEW.channel := (
            SELECT jsonb_strip_nulls(jsonb_build_object(
                'id', channel.id, 'name', channel.name, 'importance', channel.importance,
                'description', channel.description, 'sound', channel.sound, 'vibration', channel.vibration,
                'lights', channel.lights, 'badge', channel.badge))
            FROM pushfleet.channel
            WHERE channel.app_id = NEW.app_id AND channel.id = NEW.message #>> '{presentation,channelId}'
        );
    END IF;
    IF NOT NEW.delivery ? 'fcmMode' AND EXISTS (
        SELECT FROM pushfleet.app WHERE app.id = NEW.app_id AND app.fcm_mode = 1
    ) THEN
        NEW.delivery := NEW.delivery || '{"fcmMode": "notification"}';
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION pushfleet.content_problems(content jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    languages CONSTANT jsonb := CASE jsonb_typeof(content) WHEN 'object' THEN content - '_default' ELSE '{}' END;
    named CONSTANT jsonb := content -> '_default';
BEGIN
    IF jsonb_typeof(content) <> 'object' THEN
        RETURN QUERY SELECT at, 'type_invalid', 'must be an object';
        RETURN;
    ELSIF content IS NULL OR languages = '{}' THEN
        RETURN QUERY SELECT at, 'content_missing', 'has no text in any language';
        RETURN;
    END IF;
    RETURN QUERY
    SELECT at || pushfleet.pointer_step(fault.key),
        CASE WHEN fault.tag IS NULL THEN 'language_key_invalid' ELSE 'language_key_duplicate' END,
        CASE WHEN fault.tag IS NULL THEN 'is no language tag such as en, pt-BR or zh-Hant'
            ELSE 'is the same language as another key' END
    FROM (
        SELECT k.key, t.tag, row_number() OVER (PARTITION BY t.tag ORDER BY k.key COLLATE "C") AS place
        FROM jsonb_object_keys(languages) AS k (key), pushfleet.language_key(k.key) AS t (tag)
    ) fault
    WHERE fault.tag IS NULL OR fault.place > 1;
    IF named IS NULL THEN
        RETURN QUERY SELECT at || '/_default', 'default_language_missing', 'is missing';
    ELSIF jsonb_typeof(named) <> 'string' THEN
        RETURN QUERY SELECT at || '/_default', 'type_invalid', 'must be a text';
    ELSIF NOT languages ? (named #>> '{}') AND NOT EXISTS (
        SELECT FROM jsonb_object_keys(languages) AS k (key)
        WHERE pushfleet.language_key(k.key) = pushfleet.language_key(named #>> '{}')
    ) THEN
        RETURN QUERY SELECT at || '/_default', 'default_language_unknown', 'names a language that has no text';
    END IF;
    RETURN QUERY
    SELECT p.pointer, p.code, p.problem
    FROM jsonb_each(languages) l,
        pushfleet.variant_problems(l.value, at || pushfleet.pointer_step(l.key)) p
    WHERE left(l.key, 1) <> '_';
END
$$;

CREATE FUNCTION pushfleet.count_tokens() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH counted AS MATERIALIZED (
        SELECT s.app_id, s.transport, s.state,
            date_trunc('month', s.registered_at AT TIME ZONE 'UTC')::date AS registered_month,
            CASE
                WHEN s.seen_at IS NULL THEN -1
                WHEN s.seen_at > now() - interval '1 day' THEN 1
                WHEN s.seen_at > now() - interval '7 days' THEN 7
                WHEN s.seen_at > now() - interval '30 days' THEN 30
                WHEN s.seen_at > now() - interval '90 days' THEN 90
                WHEN s.seen_at > now() - interval '270 days' THEN 270
                ELSE 32767
            END AS seen_days,
            count(*) AS n
        FROM pushfleet.subscriber s
        GROUP BY 1, 2, 3, 4, 5
    ),
    gone AS (
        -- Counted earlier in this hour, by another janitor or the one before, and empty since.
        DELETE FROM pushfleet.token_tally t
        WHERE t.counted_at = date_trunc('hour', now())
            AND NOT EXISTS (
                SELECT
                FROM counted c
                WHERE (c.app_id, c.transport, c.state, c.registered_month, c.seen_days)
                    = (t.app_id, t.transport, t.state, t.registered_month, t.seen_days)
            )
    )
    INSERT INTO pushfleet.token_tally (counted_at, app_id, transport, state, registered_month, seen_days, n)
    SELECT date_trunc('hour', now()), c.app_id, c.transport, c.state, c.registered_month, c.seen_days, c.n
    FROM counted c
    ON CONFLICT (app_id, counted_at, transport, state, registered_month, seen_days) DO UPDATE SET n = excluded.n
$$;

CREATE FUNCTION pushfleet.data_problems(data jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
    WITH entry AS (
        SELECT e.key, e.value, at || pushfleet.pointer_step(e.key) AS at
        FROM jsonb_each(CASE jsonb_typeof(data) WHEN 'object' THEN data ELSE '{}' END) e
    )
    SELECT at, 'type_invalid', 'must be an object' WHERE jsonb_typeof(data) <> 'object'
    UNION ALL
    SELECT entry.at, 'data_key_invalid', 'has no name' FROM entry WHERE entry.key = ''
    UNION ALL
    SELECT entry.at, 'data_key_too_long', 'has a name of more than 64 characters' FROM entry
    WHERE pushfleet.is_too_long(entry.key, 64)
    UNION ALL
    SELECT entry.at, 'data_key_reserved', 'has a name that the providers keep for themselves' FROM entry
    WHERE lower(entry.key COLLATE "C") ~ '^(from|message_type|collapse_key|aps)$|^(google|gcm|_)'
    UNION ALL
    SELECT entry.at, 'data_not_string', 'must be a text' FROM entry WHERE jsonb_typeof(entry.value) <> 'string'
    UNION ALL
    SELECT entry.at, 'data_value_too_long', 'has more than 1024 characters' FROM entry
    WHERE jsonb_typeof(entry.value) = 'string' AND pushfleet.is_too_long(entry.value #>> '{}', 1024);
END
$_$;

CREATE FUNCTION pushfleet.drop_bucket(which integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM set_config('lock_timeout', '200ms', true);
    IF NOT EXISTS (SELECT FROM pushfleet.bucket WHERE id = which AND sealed_at IS NOT NULL) THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM pushfleet.batch WHERE bucket_id = which AND state IN (0, 1, 5)) THEN
        RETURN false;
    END IF;
    EXECUTE format('LOCK TABLE pushfleet.job_%s IN ACCESS EXCLUSIVE MODE', which);
    IF EXISTS (SELECT FROM pushfleet.batch WHERE bucket_id = which AND state IN (0, 1, 5)) THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE pushfleet.job_%s', which);
    DELETE FROM pushfleet.bucket WHERE id = which;
    RETURN true;
END
$$;

CREATE FUNCTION pushfleet.due_notifications(in_shard smallint, at_most integer, without bigint[]) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    RETURN QUERY
    SELECT first.id
    FROM (
        SELECT n.id, n.run_id, n.due_at
        FROM pushfleet.notification n
        WHERE n.shard = in_shard AND n.due_at <= moment
        ORDER BY n.due_at, n.id
        LIMIT at_most
    ) first
    JOIN pushfleet.run ON run.id = first.run_id AND run.status = 1
    JOIN pushfleet.app ON app.id = run.app_id AND app.paused_at IS NULL
    WHERE first.run_id <> ALL (without);
    IF FOUND THEN
        RETURN;
    END IF;
    PERFORM
    FROM pushfleet.notification n
    WHERE n.shard = in_shard AND n.due_at <= moment
    ORDER BY n.due_at, n.id
    LIMIT 1
    OFFSET at_most - 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE waiting (run_id) AS (
        SELECT min(n.run_id) FROM pushfleet.notification n WHERE n.shard = in_shard
        UNION ALL
        SELECT (
            SELECT min(n.run_id) FROM pushfleet.notification n WHERE n.shard = in_shard AND n.run_id > waiting.run_id
        )
        FROM waiting
        WHERE waiting.run_id IS NOT NULL
    )
    SELECT due.id
    FROM waiting
    JOIN pushfleet.run ON run.id = waiting.run_id AND run.status = 1
    JOIN pushfleet.app ON app.id = run.app_id AND app.paused_at IS NULL
    CROSS JOIN LATERAL (
        SELECT n.id, n.due_at
        FROM pushfleet.notification n
        WHERE n.shard = in_shard AND n.run_id = waiting.run_id AND n.due_at <= moment
        ORDER BY n.due_at, n.id
        LIMIT at_most
    ) due
    WHERE waiting.run_id <> ALL (without)
    ORDER BY due.due_at, due.id
    LIMIT at_most;
END
$$;

CREATE FUNCTION pushfleet.end_campaign(which bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    owner text := (
        SELECT a.name FROM pushfleet.campaign c JOIN pushfleet.app a ON a.id = c.app_id WHERE c.id = which
    );
BEGIN
    IF owner IS NULL THEN
        RETURN false;
    END IF;
    PERFORM pushfleet.require_caller(owner);
    UPDATE pushfleet.campaign c
    SET state = 3, next_at = NULL
    WHERE c.id = which AND (c.state = 0 OR c.state = 1 AND c.next_at IS NOT NULL);
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pushfleet.end_campaign(which bigint) IS 'No further run of a campaign begins; those that it has go on. False: none was to come. PF403.';

CREATE FUNCTION pushfleet.ensure_day(parent text, day date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
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
        'CREATE TABLE pushfleet.%I (LIKE pushfleet.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS) '
            'WITH (autovacuum_vacuum_insert_threshold = -1)',
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

CREATE FUNCTION pushfleet.ensure_days(ahead integer DEFAULT 7) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    today date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
    FOR i IN 0 .. ahead LOOP
        PERFORM pushfleet.ensure_day('delivery', today + i);
        PERFORM pushfleet.ensure_day('attempt', today + i);
    END LOOP;
    PERFORM pushfleet.vacuum_past_days();
END
$$;

CREATE FUNCTION pushfleet.ensure_standing_runs() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT pushfleet.standing_run(a.id, (now() AT TIME ZONE 'UTC')::date + ahead, policy::smallint)
    FROM pushfleet.app a
    CROSS JOIN generate_series(0, 1) ahead
    CROSS JOIN generate_series(0, 1) policy
    -- The other policy's for apps that use it: who makes a day's run lets others wait for the end of its transaction.
    WHERE policy = 0
        OR EXISTS (SELECT FROM pushfleet.run r WHERE r.standing AND r.app_id = a.id AND r.in_doubt = policy)
$$;

CREATE FUNCTION pushfleet.exempt_rules(message jsonb, delivery jsonb) RETURNS smallint
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE
        WHEN message -> 'silent' = 'true' THEN 3
        ELSE coalesce(delivery #> '{bypass,rules}' ? 'frequency_cap', false)::int
            + coalesce(delivery #> '{bypass,rules}' ? 'quiet_hours', false)::int * 2
    END::smallint
$$;

CREATE FUNCTION pushfleet.expired_days() RETURNS TABLE(parent text, child text, is_pending boolean, is_detached boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT kind.what, format('%I', c.relname), coalesce(i.inhdetachpending, false), i.inhrelid IS NULL
    FROM (VALUES ('delivery'), ('attempt')) kind (what)
    JOIN pushfleet.retention r ON r.what = kind.what
    JOIN pg_class c
        ON c.relnamespace = 'pushfleet'::regnamespace
        AND c.relkind = 'r'
        AND c.relname ~ ('^' || kind.what || '_[0-9]{8}$')
    LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    CROSS JOIN LATERAL (
        -- Of other tables' names, which may be read first: no day.
        SELECT (to_date(substring(c.relname FROM '^(?:delivery|attempt)_([0-9]{8})$'), 'YYYYMMDD') + 1)::timestamp
            AT TIME ZONE 'UTC' AS ends_at
    ) day
    WHERE day.ends_at < now() - r.keep
        AND (SELECT min(m.folded_until) FROM pushfleet.tally_mark m) >= day.ends_at
        AND NOT EXISTS (
            SELECT FROM pushfleet.run
            LEFT JOIN pushfleet.run_total t ON t.run_id = run.id
            WHERE run.created_at < day.ends_at AND t.audited_at IS NULL
        )
    ORDER BY c.relname
$_$;

CREATE FUNCTION pushfleet.explain(app text, recipient jsonb, which_run bigint DEFAULT NULL::bigint, since interval DEFAULT '7 days'::interval) RETURNS TABLE(at timestamp with time zone, subscriber_id bigint, run_id bigint, campaign text, what text, reason text, detail jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
#variable_conflict use_column
DECLARE
    the_app bigint;
    problem record;
BEGIN
    SELECT a.id INTO the_app FROM pushfleet.app a WHERE a.name = explain.app;
    IF the_app IS NULL THEN
        RAISE EXCEPTION 'app: there is no app %', coalesce(quote_literal(explain.app), 'NULL') USING ERRCODE = 'PF404';
    END IF;
    IF NOT pg_has_role(session_user, 'pushfleet_reporter', 'MEMBER') THEN
        PERFORM pushfleet.require_caller(explain.app);
    END IF;
    SELECT c.* INTO problem FROM pushfleet.check_recipient(recipient) c;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'recipient: %', problem.problem USING ERRCODE = 'PF400';
    END IF;
    RETURN QUERY
    WITH who AS MATERIALIZED (
        SELECT s.shard, s.id, s.transport, s.service, s.state, s.evidence, s.state_since, s.registered_at, s.seen_at,
            s.language, s.time_zone, s.address_version, a.cap_most, a.cap_window,
            pushfleet.quiet_end(now(), s.time_zone, a.time_zone, a.quiet_from, a.quiet_until) AS quiet_until,
            CASE WHEN a.cap_most IS NOT NULL THEN coalesce('u:' || s.user_id, 's:' || s.id) END AS user_key
        FROM pushfleet.app a
        JOIN pushfleet.subscriber s ON s.shard = ANY (a.shards) AND s.app_id = a.id
        WHERE a.id = the_app
            AND CASE
                WHEN recipient ? 'subscriber' THEN s.id = (recipient ->> 'subscriber')::bigint
                WHEN recipient ? 'externalId' THEN s.external_id = recipient ->> 'externalId'
                ELSE s.user_id = recipient ->> 'user'
            END
        LIMIT 100
    ),
    runs AS MATERIALIZED (
        SELECT r.id, r.status, r.due_at, r.audience_as_of, r.closed_at, r.standing,
            coalesce(c.name, 'single notification') AS name
        FROM pushfleet.run r
        LEFT JOIN pushfleet.campaign c ON c.id = r.campaign_id
        WHERE r.app_id = the_app
            AND (which_run IS NULL OR r.id = which_run)
            AND (r.closed_at IS NULL OR r.closed_at > now() - since)
    ),
    story AS (
        -- The subscriber as it is.
        SELECT NULL::timestamptz AS at, who.id, NULL::bigint AS run_id, NULL::text AS name,
            'subscriber is ' || (
                ARRAY['active', 'suspect', 'unregistered', 'of another project', 'quarantined']
            )[who.state] AS what,
            who.evidence AS reason,
            jsonb_strip_nulls(jsonb_build_object(
                'transport', (ARRAY['apns', 'fcm', 'webpush'])[who.transport], 'since', who.state_since,
                'registered_at', who.registered_at, 'seen_at', who.seen_at, 'language', who.language,
                'time_zone', who.time_zone, 'address_version', who.address_version,
                'route', CASE
                    WHEN route.id IS NULL THEN 'there is none: add a credential'
                    WHEN route.state = 1 THEN 'paused'
                    WHEN route.state = 2 THEN 'closed'
                    ELSE 'open'
                END,
                'quiet_until', who.quiet_until,
                'frequency_cap', CASE WHEN who.cap_most IS NOT NULL THEN jsonb_build_object(
                    'most', who.cap_most, 'window', who.cap_window, 'taken', taken.n,
                    -- When the next is possible; left out = now.
                    'room_at', taken.room_at)
                END)) AS detail
        FROM who
        LEFT JOIN LATERAL (
            SELECT count(*) AS n,
                CASE WHEN count(*) >= who.cap_most
                    THEN (array_agg(hit.at ORDER BY hit.at DESC))[who.cap_most] + who.cap_window
                END AS room_at
            FROM pushfleet.frequency f
            CROSS JOIN LATERAL unnest(f.hit_at) AS hit (at)
            WHERE f.app_id = the_app AND f.user_key = who.user_key AND hit.at > now() - who.cap_window
        ) taken ON true
        LEFT JOIN pushfleet.route
            ON route.app_id = the_app AND route.transport = who.transport AND route.service = who.service
        UNION ALL
        SELECT d.at, who.id, d.run_id, NULL,
            (ARRAY['delivered', 'failed', 'unregistered', 'expired', 'cancelled', 'skipped', 'in_doubt'])[d.outcome],
            d.reason,
            jsonb_strip_nulls(jsonb_build_object(
                'number', d.number, 'attempts', d.attempts, 'status', d.status, 'sent_at', d.sent_at,
                'answer_ms', d.answer_ms, 'language', d.language, 'variant', d.variant,
                'content_version', d.content_version, 'address_version', d.address_version,
                'provider_id', d.provider_id))
        FROM who
        JOIN pushfleet.delivery d ON d.subscriber_id = who.id AND d.at > now() - since
        WHERE d.shard = who.shard AND (which_run IS NULL OR d.run_id = which_run)
        UNION ALL
        SELECT t.at, who.id, t.run_id, NULL, 'attempt ' || t.attempts || ' was not final', t.reason,
            jsonb_strip_nulls(jsonb_build_object(
                'number', t.number, 'status', t.status, 'answer_ms', t.answer_ms, 'may_have_left', t.doubtful))
        FROM who
        JOIN pushfleet.attempt t ON t.subscriber_id = who.id AND t.at > now() - since
        WHERE t.shard = who.shard AND (which_run IS NULL OR t.run_id = which_run)
        UNION ALL
        SELECT NULL, who.id, j.run_id, NULL,
            CASE b.state WHEN 0 THEN 'waits for a worker' WHEN 1 THEN 'is with a worker' ELSE 'is scheduled' END,
            NULL,
            jsonb_build_object(
                'number', j.number, 'due_at', b.due_at, 'expires_at', coalesce(j.expires_at, b.expires_at),
                'attempts', j.attempts)
        FROM who
        CROSS JOIN runs
        JOIN pushfleet.batch b
            ON b.shard = who.shard
            AND b.run_id = runs.id
            AND b.state IN (0, 1, 5)
            AND who.id BETWEEN b.first_subscriber_id AND b.last_subscriber_id
        JOIN pushfleet.job j
            ON j.shard = b.shard AND j.bucket_id = b.bucket_id AND j.batch_id = b.id AND j.subscriber_id = who.id
        WHERE runs.closed_at IS NULL AND get_bit(b.marked, j.ordinal) = 0
        UNION ALL
        SELECT NULL, who.id, r.run_id, NULL, 'waits for another attempt', NULL,
            jsonb_build_object(
                'number', r.number, 'due_at', r.due_at, 'expires_at', r.expires_at, 'attempts', r.attempts,
                'may_have_left', r.doubtful)
        FROM who
        CROSS JOIN runs
        JOIN pushfleet.retry r ON r.shard = who.shard AND r.run_id = runs.id AND r.subscriber_id = who.id
        WHERE runs.closed_at IS NULL AND (runs.standing OR r.number = who.id)
        UNION ALL
        SELECT NULL, who.id, n.run_id, NULL, 'waits to be collected', NULL,
            jsonb_build_object('number', n.id, 'due_at', n.due_at, 'expires_at', n.expires_at)
        FROM who
        JOIN pushfleet.notification n ON n.shard = who.shard AND n.subscriber_id = who.id
        UNION ALL
        -- Why not: asked about one run that has nothing for it.
        SELECT NULL, who.id, runs.id, NULL,
            CASE
                WHEN who.registered_at > runs.audience_as_of THEN 'not targeted: it registered after the audience was fixed'
                WHEN NOT p.expanded AND p.last_subscriber_id < who.id THEN 'not reached yet: the run is being expanded'
                ELSE 'not targeted: the audience does not hold it, or it goes back further than ' || since
            END,
            NULL, jsonb_build_object('audience_as_of', runs.audience_as_of)
        FROM who
        CROSS JOIN runs
        JOIN pushfleet.run_progress p ON p.shard = who.shard AND p.run_id = runs.id
        WHERE which_run IS NOT NULL
            AND NOT runs.standing
            AND NOT EXISTS (
                SELECT FROM pushfleet.delivery d
                WHERE d.subscriber_id = who.id AND d.run_id = runs.id AND d.at > now() - since
            )
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.batch b
                JOIN pushfleet.job j
                    ON j.shard = b.shard AND j.bucket_id = b.bucket_id AND j.batch_id = b.id AND j.subscriber_id = who.id
                WHERE b.shard = who.shard AND b.run_id = runs.id AND b.state IN (0, 1, 5)
                    AND who.id BETWEEN b.first_subscriber_id AND b.last_subscriber_id
            )
            AND NOT EXISTS (
                SELECT FROM pushfleet.retry r
                WHERE r.shard = who.shard AND r.run_id = runs.id AND r.subscriber_id = who.id AND r.number = who.id
            )
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, 'no_subscriber: nobody is registered under this', NULL, '{}'
        WHERE NOT EXISTS (SELECT FROM who)
    )
    SELECT story.at, story.id, story.run_id,
        (SELECT coalesce(c.name, 'single notification') FROM pushfleet.run r
            LEFT JOIN pushfleet.campaign c ON c.id = r.campaign_id WHERE r.id = story.run_id),
        story.what, reason.name, story.detail
    FROM story
    LEFT JOIN pushfleet.reason ON reason.code = story.reason AND reason.code > 0
    ORDER BY story.at DESC NULLS FIRST, story.id, story.run_id;
END
$$;

COMMENT ON FUNCTION pushfleet.explain(app text, recipient jsonb, which_run bigint, since interval) IS 'Why one subscriber or user did or did not get something; no address, no attribute. PF400, PF403, PF404.';

CREATE FUNCTION pushfleet.fold(in_shard smallint, span interval DEFAULT '00:10:00'::interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_nestloop TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
    since timestamptz;
    upto timestamptz;
    counted bigint;
BEGIN
    INSERT INTO pushfleet.tally_mark (shard, folded_until)
    SELECT in_shard, coalesce((SELECT min(r.created_at) FROM pushfleet.run r), now()) - interval '1 min'
    ON CONFLICT (shard) DO NOTHING;
    SELECT m.folded_until INTO since FROM pushfleet.tally_mark m WHERE m.shard = in_shard FOR UPDATE SKIP LOCKED;
    upto := least(since + span, date_trunc('hour', since) + interval '1 hour', pushfleet.settled_until());
    IF since IS NULL OR upto <= since THEN
        RETURN 0;
    END IF;
    PERFORM pushfleet.summarize_day('delivery', (since AT TIME ZONE 'UTC')::date);
    WITH known AS MATERIALIZED (
        SELECT b.id, b.route_id, b.due_at
        FROM pushfleet.batch b
        WHERE b.shard = in_shard
            AND b.id = ANY (ARRAY(
                SELECT DISTINCT d.batch_id
                FROM pushfleet.delivery d
                WHERE d.shard = in_shard AND d.at >= since AND d.at < upto))
    ),
    fresh AS (
        SELECT d.run_id, b.route_id, d.content_version, d.outcome, d.reason, d.variant, d.attempts,
            coalesce(d.asked, s.language) AS asked, d.language AS served,
            CASE WHEN d.sent_at IS NOT NULL THEN
                pushfleet.latency_class(1000 * date_part('epoch', d.sent_at - b.due_at))
            END AS to_sent,
            CASE WHEN d.answer_ms IS NOT NULL THEN pushfleet.latency_class(d.answer_ms) END AS to_answer
        FROM pushfleet.delivery d
        JOIN known b ON b.id = d.batch_id
        LEFT JOIN LATERAL (
            SELECT subscriber.language
            FROM pushfleet.subscriber
            WHERE d.asked IS NULL AND subscriber.shard = in_shard AND subscriber.id = d.subscriber_id
            OFFSET 0
        ) s ON true
        WHERE d.shard = in_shard AND d.at >= since AND d.at < upto
    ),
    grouped AS MATERIALIZED (
        SELECT f.run_id, f.route_id, f.content_version, f.outcome, f.reason, f.variant, f.asked, f.served, f.to_sent,
            f.to_answer, count(*) AS n, sum(f.attempts) AS attempts,
            grouping(f.outcome, f.to_sent, f.to_answer) AS absent
        FROM fresh f
        GROUP BY GROUPING SETS (
            (f.run_id, f.route_id, f.content_version, f.outcome, f.reason, f.variant, f.asked, f.served),
            (f.run_id, f.route_id, f.to_sent),
            (f.run_id, f.route_id, f.to_answer)
        )
    ),
    outcomes AS (
        INSERT INTO pushfleet.tally AS t (
            hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served
        )
        SELECT date_trunc('hour', since), g.run_id, g.route_id, coalesce(g.content_version, 0), sum(g.n), sum(g.attempts),
            g.outcome, g.reason, coalesce(g.variant, 0::smallint), pushfleet.language_label(g.asked), coalesce(g.served, '')
        FROM grouped g
        WHERE g.absent = b'011'::int
        GROUP BY g.run_id, g.route_id, coalesce(g.content_version, 0), g.outcome, g.reason,
            coalesce(g.variant, 0::smallint), pushfleet.language_label(g.asked), coalesce(g.served, '')
        ON CONFLICT (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served) DO UPDATE
        SET n = t.n + excluded.n, attempts = t.attempts + excluded.attempts
        RETURNING 1
    ),
    latencies AS (
        INSERT INTO pushfleet.tally_latency AS t (hour, run_id, route_id, n, kind, class)
        SELECT date_trunc('hour', since), g.run_id, g.route_id, g.n, k.kind, k.class
        FROM grouped g
        JOIN LATERAL (
            VALUES (1::smallint, b'101'::int, g.to_sent), (2::smallint, b'110'::int, g.to_answer)
        ) k (kind, absent, class) ON k.absent = g.absent
        WHERE k.class IS NOT NULL
        ON CONFLICT (run_id, hour, route_id, kind, class) DO UPDATE SET n = t.n + excluded.n
        RETURNING 1
    )
    SELECT coalesce(sum(g.n), 0) INTO counted FROM grouped g WHERE g.absent = b'011'::int;
    UPDATE pushfleet.tally_mark SET folded_until = upto WHERE shard = in_shard;
    RETURN counted;
END
$$;

CREATE FUNCTION pushfleet.forget_answers(older_than interval) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH
    forgotten AS (
        DELETE FROM pushfleet.answer_minute m
        WHERE m.at_minute < now() - older_than
        RETURNING m.credential_id, m.at_minute, m.answers > m.gone + m.foreign_to_us AS is_success
    ),
    newest AS (
        SELECT f.credential_id, max(f.at_minute) AS at_minute
        FROM forgotten f
        WHERE f.is_success
        GROUP BY f.credential_id
    )
    UPDATE pushfleet.credential c
    SET last_success_at = greatest(c.last_success_at, newest.at_minute)
    FROM newest
    WHERE c.id = newest.credential_id AND c.last_success_at IS DISTINCT FROM greatest(c.last_success_at, newest.at_minute)
$$;

CREATE FUNCTION pushfleet.forget_events(at_most integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.forget_frequencies(after_app bigint, after_user text, at_most integer) RETURNS TABLE(next_app bigint, next_user text, forgotten integer)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH page AS MATERIALIZED (
        SELECT f.app_id, f.user_key
        FROM pushfleet.frequency f
        WHERE (f.app_id, f.user_key) > (after_app, after_user)
        ORDER BY f.app_id, f.user_key
        LIMIT at_most
    ),
    gone AS (
        -- Looks at the row as it is once it is locked.
        DELETE FROM pushfleet.frequency f
        USING page
        LEFT JOIN pushfleet.app ON app.id = page.app_id
        WHERE f.app_id = page.app_id
            AND f.user_key = page.user_key
            AND NOT EXISTS (
                SELECT
                FROM unnest(f.hit_at) AS hit (at)
                WHERE hit.at > now() - coalesce(app.cap_window, interval '31 days')
            )
        RETURNING 1
    ),
    old AS (
        DELETE FROM pushfleet.bypass
        WHERE bypass.at < now() - (SELECT r.keep FROM pushfleet.retention r WHERE r.what = 'tally')
    ),
    last AS (
        SELECT page.app_id, page.user_key
        FROM page
        WHERE (SELECT count(*) FROM page) = at_most
        ORDER BY page.app_id DESC, page.user_key DESC
        LIMIT 1
    )
    SELECT last.app_id, last.user_key, (SELECT count(*)::int FROM gone)
    FROM (VALUES (1)) one
    LEFT JOIN last ON true
$$;

CREATE FUNCTION pushfleet.forget_notifications(at_most integer) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.forget_old(at_most integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
DECLARE
    cleared bigint;
BEGIN
    WITH
    keep AS MATERIALIZED (SELECT r.what, now() - r.keep AS since FROM pushfleet.retention r),
    over AS MATERIALIZED (
        -- Closed, audited, counted: its batches and pairs say nothing that its totals do not.
        SELECT run.id
        FROM pushfleet.run
        JOIN pushfleet.run_total t ON t.run_id = run.id AND t.audited_at IS NOT NULL
        WHERE run.closed_at < (SELECT keep.since FROM keep WHERE keep.what = 'batch')
            AND run.closed_at < (SELECT min(m.folded_until) FROM pushfleet.tally_mark m)
            AND EXISTS (SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id)
        ORDER BY run.id
        LIMIT 20
    ),
    batches AS (
        DELETE FROM pushfleet.batch b
        USING (
            SELECT c.shard, c.id
            FROM over
            JOIN pushfleet.run_progress p ON p.run_id = over.id
            JOIN pushfleet.batch c ON c.shard = p.shard AND c.run_id = over.id
            WHERE c.state = 2
            LIMIT at_most
        ) old
        WHERE b.shard = old.shard AND b.id = old.id
        RETURNING b.shard, b.run_id
    ),
    emptied AS MATERIALIZED (
        -- The pairs and the progress go with the last batch; deleted rows still show in this snapshot.
        SELECT p.shard, p.run_id
        FROM over
        JOIN pushfleet.run_progress p ON p.run_id = over.id
        WHERE NOT EXISTS (SELECT FROM pushfleet.batch b WHERE b.shard = p.shard AND b.run_id = p.run_id)
    ),
    pairs AS (
        DELETE FROM pushfleet.run_route rr USING emptied
        WHERE rr.shard = emptied.shard AND rr.run_id = emptied.run_id
        RETURNING 1
    ),
    progress AS (
        DELETE FROM pushfleet.run_progress p USING emptied
        WHERE p.shard = emptied.shard AND p.run_id = emptied.run_id
        RETURNING 1
    ),
    tallies AS (
        DELETE FROM pushfleet.tally t
        USING (
            SELECT o.ctid
            FROM pushfleet.tally o
            WHERE o.hour < (SELECT keep.since FROM keep WHERE keep.what = 'tally')
            ORDER BY o.hour
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    latencies AS (
        DELETE FROM pushfleet.tally_latency t
        USING (
            SELECT o.ctid
            FROM pushfleet.tally_latency o
            WHERE o.hour < (SELECT keep.since FROM keep WHERE keep.what = 'tally')
            ORDER BY o.hour
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    hours AS (
        DELETE FROM pushfleet.tally_hour t
        WHERE t.hour < (SELECT keep.since FROM keep WHERE keep.what = 'tally')
        RETURNING 1
    ),
    days AS (
        DELETE FROM pushfleet.tally_day t
        WHERE t.day < (SELECT (keep.since AT TIME ZONE 'UTC')::date FROM keep WHERE keep.what = 'tally')
        RETURNING 1
    ),
    counts AS (
        DELETE FROM pushfleet.token_tally t
        USING (
            SELECT o.ctid
            FROM pushfleet.app
            CROSS JOIN LATERAL (
                SELECT c.ctid
                FROM pushfleet.token_tally c
                WHERE c.app_id = app.id
                    AND c.counted_at < (SELECT keep.since FROM keep WHERE keep.what = 'token_tally')
                LIMIT at_most
            ) o
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    hourly_counts AS (
        -- All but one count of a day go after a week.
        DELETE FROM pushfleet.token_tally t
        USING (
            SELECT o.ctid
            FROM pushfleet.token_tally o
            WHERE o.counted_at < now() - interval '7 days'
                AND extract(hour FROM o.counted_at AT TIME ZONE 'UTC') <> 0
            ORDER BY o.counted_at
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM batches) + (SELECT count(*) FROM pairs) + (SELECT count(*) FROM progress)
        + (SELECT count(*) FROM tallies) + (SELECT count(*) FROM latencies) + (SELECT count(*) FROM hours)
        + (SELECT count(*) FROM days) + (SELECT count(*) FROM counts) + (SELECT count(*) FROM hourly_counts)
    INTO cleared;
    RETURN cleared;
END
$$;

CREATE FUNCTION pushfleet.image_problems(value jsonb, at text, invalid text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
    SELECT at, fault.code, fault.problem
    FROM (
        SELECT CASE
            WHEN value IS NULL THEN NULL
            WHEN jsonb_typeof(value) <> 'string' THEN 'type_invalid'
            WHEN strpos(value #>> '{}', '{{') > 0 THEN 'placeholder_not_allowed'
            WHEN NOT pushfleet.is_image_link(value #>> '{}') THEN invalid
        END AS code, 'must be an absolute https address of at most 2048 characters' AS problem
    ) fault
    WHERE fault.code IS NOT NULL;
END
$$;

CREATE FUNCTION pushfleet.installation_problems(installation jsonb) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
DECLARE
    columns CONSTANT text[] := '{external_id,user_id,transport,address,environment,p256dh,auth,language,time_zone,'
        'attributes,tags,registered_at,vapid_key}';
    given CONSTANT jsonb :=
        CASE jsonb_typeof(installation) WHEN 'object' THEN jsonb_strip_nulls(installation) ELSE '{}' END;
    transport CONSTANT text := given ->> 'transport';
    address CONSTANT text := given ->> 'address';
    host text := lower(
        substring(address FROM '^[Hh][Tt][Tt][Pp][Ss]://([A-Za-z0-9._-]+?)[.]?(?::(?:443)?)?(?:[/?\\]|$)'));
BEGIN
    IF installation IS NULL THEN
        RETURN QUERY SELECT '/installation', 'type_invalid', 'must be an object';
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM pushfleet.member_problems(installation, '/installation', columns);
    RETURN QUERY
    SELECT '/installation/' || g.key, 'type_invalid', 'must be ' || wanted.text
    FROM jsonb_each(given) g,
        LATERAL (
            SELECT CASE g.key WHEN 'attributes' THEN 'an object' WHEN 'tags' THEN 'an array of texts' ELSE 'a text' END,
                CASE g.key WHEN 'attributes' THEN 'object' WHEN 'tags' THEN 'array' ELSE 'string' END
        ) AS wanted (text, type)
    WHERE g.key = ANY (columns)
        AND (
            jsonb_typeof(g.value) <> wanted.type
            OR g.key = 'tags' AND jsonb_path_exists(g.value, '$[*] ? (@.type() <> "string")')
        );
    RETURN QUERY
    SELECT '/installation/' || needed.key, 'field_missing', 'is missing or empty'
    FROM unnest('{external_id,transport,address}'::text[]) AS needed (key)
    WHERE coalesce(pushfleet.is_blank(given ->> needed.key), true);
    RETURN QUERY
    SELECT '/installation/' || rule.key, 'field_invalid', rule.problem
    FROM (
        VALUES
        ('external_id', octet_length(given ->> 'external_id') > 255, 'has more than 255 bytes'),
        ('user_id', octet_length(given ->> 'user_id') > 255, 'has more than 255 bytes'),
        ('language', octet_length(given ->> 'language') > 255, 'has more than 255 bytes'),
        ('time_zone', octet_length(given ->> 'time_zone') > 255, 'has more than 255 bytes'),
        ('transport', transport NOT IN ('apns', 'fcm', 'webpush'), 'must be apns, fcm or webpush'),
        ('address', transport = 'apns' AND NOT (
            address ~ '^([0-9A-Fa-f]{2})+$' AND octet_length(address) BETWEEN 32 AND 512
        ), 'must be a device token: an even number of 32 to 512 hexadecimal digits'),
        ('address', transport = 'fcm' AND (
            octet_length(address) > 4096 OR address !~ '^[!-~]+$' OR address ~ '^(/topics/|condition:)'
        ), 'must be a registration token'),
        ('address', transport = 'webpush' AND NOT coalesce(
            octet_length(address) <= 2048 AND address ~ '^[!-~]+$' AND strpos(address, '#') = 0
            AND (
                host IN ('fcm.googleapis.com', 'jmt17.google.com', 'updates.push.services.mozilla.com')
                OR host ~ '^.+[.](push[.]services[.]mozilla[.]com|push[.]apple[.]com|notify[.]windows[.]com)$'
            ), false), 'must be an endpoint of one of the browsers'' push services'),
        ('environment', CASE WHEN transport = 'apns' THEN given ->> 'environment' NOT IN ('', 'production', 'sandbox')
            ELSE given ->> 'environment' <> '' END, 'must be production or sandbox, for apns'),
        ('p256dh', CASE WHEN transport = 'webpush'
            THEN NOT pushfleet.is_p256_point(pushfleet.base64_bytes(given ->> 'p256dh'))
            ELSE given ->> 'p256dh' <> '' END, 'must be a point on P-256 in base64url, for webpush'),
        ('auth', CASE WHEN transport = 'webpush'
            THEN octet_length(pushfleet.base64_bytes(given ->> 'auth')) IS DISTINCT FROM 16
            ELSE given ->> 'auth' <> '' END, 'must be 16 bytes in base64url, for webpush'),
        ('vapid_key', given ->> 'vapid_key' <> '' AND NOT coalesce(
            transport = 'webpush' AND pushfleet.is_p256_point(pushfleet.base64_bytes(given ->> 'vapid_key')), false
        ), 'must be a point on P-256 in base64url, for webpush'),
        ('attributes', octet_length((installation -> 'attributes')::text) > 16384, 'has more than 16384 bytes'),
        ('tags', CASE jsonb_typeof(given -> 'tags') WHEN 'array' THEN jsonb_array_length(given -> 'tags') END > 1000,
            'has more than 1000 tags'),
        ('tags', jsonb_typeof(given -> 'tags') = 'array' AND EXISTS (
            SELECT FROM jsonb_array_elements_text(
                CASE jsonb_typeof(given -> 'tags') WHEN 'array' THEN given -> 'tags' ELSE '[]' END) AS tag
            WHERE octet_length(tag) > 255
        ), 'has a tag of more than 255 bytes'),
        ('registered_at', given ->> 'registered_at' <> ''
            AND pushfleet.instant_or_null(given ->> 'registered_at') IS NULL,
            'must be an instant such as 2031-03-01T06:30:00Z')
    ) AS rule (key, is_broken, problem)
    WHERE rule.is_broken;
END
$_$;

CREATE FUNCTION pushfleet.instant_or_null(value text) RETURNS timestamp with time zone
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
    WHEN datetime_field_overflow OR invalid_datetime_format OR invalid_time_zone_displacement_value THEN
        RETURN NULL;
END
$_$;

CREATE FUNCTION pushfleet.intake_caller(in_hash bytea) RETURNS TABLE(key_id bigint, app_id bigint, app_name text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT key.id, app.id, app.name
    FROM pushfleet.intake_key key
    JOIN pushfleet.app ON app.id = key.app_id
    WHERE key.hash = in_hash AND key.revoked_at IS NULL
$$;

CREATE FUNCTION pushfleet.intake_register(in_app bigint, in_external_id text, in_user_id text, in_transport smallint, in_address text, in_environment smallint, in_p256dh text, in_auth text, in_language text, in_time_zone text, in_attributes jsonb, in_tags text[], in_registered_at timestamp with time zone, in_vapid_key text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    -- A device whose clock is ahead registers now.
    said_at CONSTANT timestamptz := least(in_registered_at, CASE WHEN in_registered_at IS NOT NULL THEN now() END);
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
        in_attributes, in_tags, coalesce(said_at, now()),
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
            WHEN said_at > known.state_since THEN 1
            -- The back end took it out, and no provider said anything: the app is here again.
            WHEN said_at IS NULL AND known.state = 3 AND known.evidence IS NULL THEN 1
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
            WHEN known.state <> 1 AND said_at > known.state_since THEN said_at
            WHEN said_at IS NULL AND known.state = 3 AND known.evidence IS NULL THEN now()
            ELSE known.state_since
        END,
        evidence = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address) THEN NULL
            WHEN said_at > known.state_since THEN NULL
            ELSE known.evidence
        END,
        registered_at = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                THEN excluded.registered_at
            WHEN said_at IS NULL AND known.state = 3 AND known.evidence IS NULL THEN now()
            ELSE least(greatest(known.registered_at, said_at), now())
        END
    RETURNING known.xmax = 0 INTO is_new;
    RETURN is_new;
END
$$;

CREATE FUNCTION pushfleet.intake_unregister(in_app bigint, in_external_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM pushfleet.subscriber s
    USING pushfleet.app
    WHERE app.id = in_app AND s.shard = ANY (app.shards) AND s.app_id = app.id AND s.external_id = in_external_id;
    RETURN FOUND;
END
$$;

CREATE FUNCTION pushfleet.is_blank(value text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN btrim(value, pushfleet.white_space()) = '';
END
$$;

CREATE FUNCTION pushfleet.is_bypass(bypass jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT jsonb_typeof(bypass) = 'object'
        AND bypass - '{rules,reason}'::text[] = '{}'
        AND coalesce(
            bypass -> 'rules' IN (
                '["frequency_cap"]', '["quiet_hours"]', '["frequency_cap", "quiet_hours"]',
                '["quiet_hours", "frequency_cap"]'
            ), false)
        AND coalesce(
            jsonb_typeof(bypass -> 'reason') = 'string' AND NOT pushfleet.is_blank(bypass ->> 'reason')
                AND octet_length(bypass ->> 'reason') <= 200, false)
$$;

CREATE FUNCTION pushfleet.is_header_value(name text, value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT CASE name
        WHEN 'apns-priority' THEN value IN ('1', '5', '10')
        WHEN 'apns-expiration' THEN value ~ '^[0-9]{1,11}$'
        WHEN 'apns-collapse-id' THEN octet_length(value) BETWEEN 1 AND 64
        WHEN 'apns-push-type' THEN value IN (
            'alert', 'background', 'location', 'voip', 'complication', 'fileprovider', 'mdm', 'liveactivity',
            'pushtotalk', 'widgets', 'controls')
        WHEN 'ttl' THEN CASE WHEN value ~ '^[0-9]{1,10}$' THEN value::bigint <= 2419200 ELSE false END
        WHEN 'urgency' THEN value IN ('very-low', 'low', 'normal', 'high')
        WHEN 'topic' THEN value ~ '^[A-Za-z0-9_-]{1,32}$'
        ELSE true
    END
$_$;

CREATE FUNCTION pushfleet.is_image_link(link text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT lower(left(link, 6) COLLATE "C") = 'https:' AND pushfleet.link_fault(link) IS NULL
$$;

CREATE FUNCTION pushfleet.is_instant(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT coalesce(
        value ~ ('^[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?'
            '([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$')
        AND CASE WHEN value ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' THEN
            substr(value, 9, 2)::int BETWEEN 1 AND CASE substr(value, 6, 2)
                WHEN '02' THEN CASE
                    WHEN substr(value, 1, 4)::int % 4 = 0
                        AND (substr(value, 1, 4)::int % 100 <> 0 OR substr(value, 1, 4)::int % 400 = 0) THEN 29
                    ELSE 28
                END
                WHEN '04' THEN 30 WHEN '06' THEN 30 WHEN '09' THEN 30 WHEN '11' THEN 30
                ELSE 31
            END
        END, false)
$_$;

CREATE FUNCTION pushfleet.is_override_value(value jsonb, kind jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT CASE
        WHEN kind ? 'word' THEN jsonb_typeof(value) = 'string' AND kind -> 'word' @> value
        WHEN kind ? 'duration' THEN jsonb_typeof(value) = 'string'
            AND CASE WHEN value #>> '{}' ~ '^[0-9]{1,12}s$|^[0-9]{1,250}[.][0-9]{1,9}s$'
                THEN rtrim(value #>> '{}', 's')::numeric <= (kind ->> 'duration')::numeric
                ELSE false END
        WHEN kind = '"bool"' THEN jsonb_typeof(value) = 'boolean'
        WHEN kind = '"string"' THEN jsonb_typeof(value) = 'string'
        WHEN kind = '"free"' THEN jsonb_typeof(value) = 'object'
        WHEN kind = '"int32"' THEN CASE WHEN jsonb_typeof(value) = 'number'
            THEN (value #>> '{}')::numeric BETWEEN -2147483648 AND 2147483647 AND (value #>> '{}')::numeric % 1 = 0
            ELSE false END
        WHEN kind = '"fraction"' THEN CASE WHEN jsonb_typeof(value) = 'number'
            THEN (value #>> '{}')::numeric BETWEEN 0 AND 1 ELSE false END
        WHEN kind = '"instant"' THEN jsonb_typeof(value) = 'string' AND pushfleet.is_instant(value #>> '{}')
        WHEN kind = '"color"' THEN jsonb_typeof(value) = 'string' AND value #>> '{}' ~ '^#[0-9A-Fa-f]{6}$'
        WHEN kind = '"label"' THEN jsonb_typeof(value) = 'string' AND value #>> '{}' ~ '^[A-Za-z0-9_.~%-]{1,50}$'
        WHEN kind = '"httpsLink"' THEN jsonb_typeof(value) = 'string' AND pushfleet.is_image_link(value #>> '{}')
    END
$_$;

CREATE FUNCTION pushfleet.is_p256_point(key bytea) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    p CONSTANT numeric := 115792089210356248762697446949407573530086143415290314195533631308867097853951;
    b CONSTANT numeric := 41058363725152142129326129780047268409114441015993725554835256314039467401291;
    x numeric := 0;
    y numeric := 0;
BEGIN
    IF key IS NULL OR octet_length(key) <> 65 OR get_byte(key, 0) <> 4 THEN
        RETURN false;
    END IF;
    FOR place IN 1 .. 32 LOOP
        x := x * 256 + get_byte(key, place);
        y := y * 256 + get_byte(key, place + 32);
    END LOOP;
    RETURN x < p AND y < p AND (y * y - x * x * x + 3 * x - b) % p = 0;
END
$$;

CREATE FUNCTION pushfleet.is_too_long(value text, at_most integer) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    IF octet_length(value) > 16384 THEN
        RETURN true;
    END IF;
    RETURN char_length(value) > at_most AND pushfleet.least_characters(value) > at_most;
END
$$;

CREATE FUNCTION pushfleet.keep_message(which bigint, message jsonb, delivery jsonb) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.language_key(key text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
DECLARE
    languages CONSTANT jsonb := '{
        "iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "tl": "fil", "sh": "sr", "cmn": "zh"
    }';
    regions CONSTANT jsonb := '{
        "uk": "gb", "bu": "mm", "dd": "de", "fx": "fr", "tp": "tl", "vd": "vn", "yd": "ye", "zr": "cd"
    }';
    parts text[];
    said text;
BEGIN
    IF char_length(key) > 35 OR key !~ '^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$' THEN
        RETURN NULL;
    END IF;
    parts := string_to_array(lower(translate(key, '_', '-') COLLATE "C"), '-');
    said := coalesce(languages ->> parts[1], parts[1]);
    IF parts[1] = 'sh' AND coalesce(parts[2] !~ '^[a-z]{4}$', true) THEN
        said := 'sr-latn';
    END IF;
    FOR place IN 2 .. cardinality(parts) LOOP
        EXIT WHEN char_length(parts[place]) = 1;
        parts[place] := coalesce(regions ->> parts[place], parts[place]);
    END LOOP;
    parts[1] := said;
    RETURN array_to_string(parts, '-');
END
$_$;

CREATE FUNCTION pushfleet.language_label(language text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
    SELECT CASE
        WHEN language IS NULL OR language = '' THEN ''
        WHEN language ~* '^[a-z]{2,3}([-_][a-z]{4})?([-_]([a-z]{2}|[0-9]{3}))?$' THEN lower(translate(language, '_', '-'))
        ELSE 'other'
    END
$_$;

CREATE FUNCTION pushfleet.latency_class(milliseconds double precision) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT least(127, ceil(4 / ln(2::double precision) * ln(greatest(1, milliseconds)) - 1e-9))::smallint $$;

CREATE FUNCTION pushfleet.least_characters(value text) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    marks CONSTANT text := '[' ||
        '\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0600-\u0605'
        '\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DD\u06DF-\u06E4\u06E7-\u06E8\u06EA-\u06ED\u070F\u0711'
        '\u0730-\u074A\u07A6-\u07B0\u07EB-\u07F3\u07FD\u0816-\u0819\u081B-\u0823\u0825-\u0827\u0829-\u082D'
        '\u0859-\u085B\u0890-\u089F\u08CA-\u0903\u093A-\u093C\u093E-\u094F\u0951-\u0957\u0962-\u0963'
        '\u0981-\u0983\u09BC\u09BE-\u09CD\u09D7\u09E2-\u09E3\u09FE-\u0A03\u0A3C-\u0A51\u0A70-\u0A71\u0A75'
        '\u0A81-\u0A83\u0ABC\u0ABE-\u0ACD\u0AE2-\u0AE3\u0AFA-\u0B03\u0B3C\u0B3E-\u0B57\u0B62-\u0B63\u0B82'
        '\u0BBE-\u0BCD\u0BD7\u0C00-\u0C04\u0C3C\u0C3E-\u0C56\u0C62-\u0C63\u0C81-\u0C83\u0CBC\u0CBE-\u0CD6'
        '\u0CE2-\u0CE3\u0CF3-\u0D03\u0D3B-\u0D3C\u0D3E-\u0D4E\u0D57\u0D62-\u0D63\u0D81-\u0D83\u0DCA-\u0DDF'
        '\u0DF2-\u0DF3\u0E31\u0E33-\u0E3A\u0E47-\u0E4E\u0EB1\u0EB3-\u0EBC\u0EC8-\u0ECE\u0F18-\u0F19\u0F35'
        '\u0F37\u0F39\u0F3E-\u0F3F\u0F71-\u0F84\u0F86-\u0F87\u0F8D-\u0FBC\u0FC6\u102B-\u103E\u1056-\u1059'
        '\u105E-\u1060\u1062-\u1064\u1067-\u106D\u1071-\u1074\u1082-\u108D\u108F\u109A-\u109D\u1160-\u11FF'
        '\u135D-\u135F\u1712-\u1715\u1732-\u1734\u1752-\u1753\u1772-\u1773\u17B4-\u17D3\u17DD\u180B-\u180D'
        '\u180F\u1885-\u1886\u18A9\u1920-\u193B\u1A17-\u1A1B\u1A55-\u1A7F\u1AB0-\u1B04\u1B34-\u1B44'
        '\u1B6B-\u1B73\u1B80-\u1B82\u1BA1-\u1BAD\u1BE6-\u1BF3\u1C24-\u1C37\u1CD0-\u1CD2\u1CD4-\u1CE8\u1CED'
        '\u1CF4\u1CF7-\u1CF9\u1DC0-\u1DFF\u200C-\u200D\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F\u2DE0-\u2DFF'
        '\u302A-\u302F\u3099-\u309A\uA66F-\uA672\uA674-\uA67D\uA69E-\uA69F\uA6F0-\uA6F1\uA802\uA806\uA80B'
        '\uA823-\uA827\uA82C\uA880-\uA881\uA8B4-\uA8C5\uA8E0-\uA8F1\uA8FF\uA926-\uA92D\uA947-\uA953'
        '\uA980-\uA983\uA9B3-\uA9C0\uA9E5\uAA29-\uAA36\uAA43\uAA4C-\uAA4D\uAA7B-\uAA7D\uAAB0\uAAB2-\uAAB4'
        '\uAAB7-\uAAB8\uAABE-\uAABF\uAAC1\uAAEB-\uAAEF\uAAF5-\uAAF6\uABE3-\uABEA\uABEC-\uABED\uD7B0-\uD7FF'
        '\uFB1E\uFE00-\uFE0F\uFE20-\uFE2F\uFF9E-\uFF9F\U000101FD\U000102E0\U00010376-\U0001037A'
        '\U00010A00-\U00010A5F\U00010AE5-\U00010AE6\U00010D00-\U00010DFF\U00010E80-\U00011FFF'
        '\U00013430-\U0001345F\U00016100-\U0001613F\U00016A00-\U00016FFF\U0001BC00-\U0001CFFF'
        '\U0001D160-\U0001D1FF\U0001D240-\U0001D24F\U0001DA00-\U0001DAFF\U0001E000-\U0001E95F'
        '\U0001F3FB-\U0001F3FF\U000E0000-\U000E0FFF' || ']';
    viramas CONSTANT text := '[' ||
        '\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D3B-\u0D3C\u0D4D\u0DCA\u0E3A\u0EBA\u0F84'
        '\u1039-\u103A\u1714-\u1715\u1734\u17D2\u1A60\u1B44\u1BAA-\u1BAB\u1BF2-\u1BF3\u2D7F\uA806\uA82C\uA8C4'
        '\uA953\uA9C0\uAAF6\uABED' || ']';
    rest text := value;
BEGIN
    rest := replace(rest, E'\r\n', 'x');
    rest := regexp_replace(rest, '[\U0001F1E6-\U0001F1FF]{2}', 'x', 'g');
    rest := regexp_replace(rest, '[\u1100-\u115F\uA960-\uA97C]+[\uAC00-\uD7A3\u1160-\u11A7\uD7B0-\uD7C6]?', 'x', 'g');
    rest := regexp_replace(rest, '(\u200D|' || viramas || ')' || marks || '*.', '', 'g');
    rest := regexp_replace(rest, marks, '', 'g');
    RETURN char_length(rest);
END
$$;

COMMENT ON FUNCTION pushfleet.least_characters(value text) IS 'Never more than the extended grapheme clusters of the text.';

CREATE FUNCTION pushfleet.link_fault(link text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
DECLARE
    scheme text := lower(substring(link FROM '^([A-Za-z][A-Za-z0-9+.-]*):') COLLATE "C");
BEGIN
    IF pushfleet.is_too_long(link, 2048) THEN
        RETURN 'too_long';
    END IF;
    IF scheme IS NULL
        OR scheme IN ('javascript', 'data', 'vbscript', 'file')
        OR translate(link, pushfleet.white_space(), '') <> link
        OR scheme IN ('http', 'https')
            AND substr(link, char_length(scheme) + 2) !~ '^//([^/?#]*@)?[^/?#@:][^/?#@]*([/?#]|$)'
    THEN
        RETURN 'invalid';
    END IF;
    RETURN NULL;
END
$_$;

CREATE FUNCTION pushfleet.link_problems(value jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    said text := value #>> '{}';
    fault text;
BEGIN
    IF value IS NULL THEN
        RETURN;
    ELSIF jsonb_typeof(value) <> 'string' THEN
        RETURN QUERY SELECT at, 'type_invalid', 'must be a text';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM pushfleet.placeholders(said) p WHERE p IS NULL) THEN
        RETURN QUERY SELECT at, 'placeholder_malformed', 'holds {{ without a valid placeholder after it';
    END IF;
    fault := pushfleet.link_fault(said);
    IF fault = 'too_long' THEN
        RETURN QUERY SELECT at, 'url_too_long', 'has more than 2048 characters';
    ELSIF fault = 'invalid' AND strpos(said, '{{') = 0 THEN
        RETURN QUERY SELECT at, 'url_invalid', 'must be an absolute link that may be opened';
    END IF;
END
$$;

CREATE FUNCTION pushfleet.local_instant(wall timestamp without time zone, zone text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
DECLARE
    found timestamptz;
    shown timestamp;
    earlier timestamptz;
    low bigint;
    high bigint;
    middle bigint;
BEGIN
    -- As above; undone when the function ends. Casts between timestamp and timestamptz are by this zone.
    PERFORM set_config('timezone', zone, true);
    found := wall::timestamptz;
    shown := found::timestamp;
    IF shown = wall THEN
        -- By the offset of the day before: an earlier instant where clocks went back in between.
        earlier := found - interval '24 h';
        earlier := (wall - (earlier::timestamp - (earlier AT TIME ZONE 'UTC'))) AT TIME ZONE 'UTC';
        IF earlier < found AND earlier::timestamp = wall THEN
            RETURN earlier;
        END IF;
        RETURN found;
    END IF;
    -- Zones change at whole seconds: the first that shows the time or a later one.
    high := ceil(extract(epoch FROM found))::bigint;
    low := high - ceil(abs(extract(epoch FROM shown - wall)))::bigint - 1;
    WHILE high - low > 1 LOOP
        middle := low + (high - low) / 2;
        IF to_timestamp(middle)::timestamp < wall THEN
            low := middle;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN to_timestamp(high);
END
$$;

CREATE FUNCTION pushfleet.local_time(instant timestamp with time zone, zone text) RETURNS timestamp without time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
BEGIN
    PERFORM set_config('timezone', zone, true);
    RETURN instant::timestamp;
END
$$;

CREATE FUNCTION pushfleet.make_campaign_target() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    target text;
BEGIN
    target := CASE
        WHEN jsonb_typeof(NEW.body -> 'audience' -> 'topic') = 'string'
        THEN '/topics/' || (NEW.body -> 'audience' ->> 'topic')
        WHEN jsonb_typeof(NEW.body -> 'audience' -> 'condition') = 'string'
        THEN 'condition:' || (NEW.body -> 'audience' ->> 'condition')
    END;
    IF target IS NULL THEN
        RETURN NEW;
    END IF;
    NEW.target_id := nextval(pg_get_serial_sequence('pushfleet.subscriber', 'id'));
    INSERT INTO pushfleet.subscriber (shard, id, app_id, transport, address)
    SELECT app.shards[1], NEW.target_id, -NEW.target_id, 2, target
    FROM pushfleet.app
    WHERE app.id = NEW.app_id;
    RETURN NEW;
END
$$;

CREATE FUNCTION pushfleet.member_problems(value jsonb, at text, known text[]) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
    SELECT at, 'type_invalid', 'must be an object'
    WHERE jsonb_typeof(value) <> 'object'
    UNION ALL
    SELECT at || pushfleet.pointer_step(k.key), 'unknown_field',
        'is not known here; known are ' || array_to_string(known, ', ')
    FROM jsonb_object_keys(CASE jsonb_typeof(value) WHEN 'object' THEN value ELSE '{}' END) AS k (key)
    WHERE k.key <> ALL (known);
END
$$;

CREATE FUNCTION pushfleet.message_problems(message jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    is_silent CONSTANT boolean := message -> 'silent' = 'true';
BEGIN
    IF message IS NULL OR jsonb_typeof(message) <> 'object' THEN
        RETURN QUERY SELECT at, 'type_invalid', 'must be an object';
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM pushfleet.member_problems(
        message, at, '{content,presentation,data,silent,overrides,template}');
    IF message ? 'template' THEN
        RETURN QUERY
        SELECT at || '/' || k.key, 'unknown_field', 'may not stand beside a template'
        FROM unnest('{content,presentation,data,silent,overrides}'::text[]) AS k (key)
        WHERE message ? k.key;
        IF jsonb_typeof(message -> 'template') <> 'string' THEN
            RETURN QUERY SELECT at || '/template', 'type_invalid', 'must be a text';
        ELSIF pushfleet.is_blank(message ->> 'template') THEN
            RETURN QUERY SELECT at || '/template', 'template_unknown', 'is empty';
        END IF;
        RETURN;
    END IF;
    IF message ? 'silent' AND jsonb_typeof(message -> 'silent') <> 'boolean' THEN
        RETURN QUERY SELECT at || '/silent', 'type_invalid', 'must be true or false';
    END IF;
    IF message ? 'data' THEN
        RETURN QUERY SELECT * FROM pushfleet.data_problems(message -> 'data', at || '/data');
    END IF;
    IF message ? 'overrides' THEN
        RETURN QUERY SELECT * FROM pushfleet.override_problems(
            message -> 'overrides', jsonb_build_object('message', pushfleet.override_schema()), at || '/overrides');
    END IF;
    IF is_silent THEN
        RETURN QUERY
        SELECT at || '/' || k.key, 'type_invalid', 'must be an object'
        FROM unnest('{content,presentation}'::text[]) AS k (key)
        WHERE jsonb_typeof(message -> k.key) <> 'object';
        RETURN;
    END IF;
    IF message ? 'presentation' THEN
        RETURN QUERY SELECT * FROM pushfleet.presentation_problems(message -> 'presentation', at || '/presentation');
    END IF;
    -- With a `silent` that cannot be read, nobody knows whether content is due.
    IF message ? 'content' OR NOT message ? 'silent' OR jsonb_typeof(message -> 'silent') = 'boolean' THEN
        RETURN QUERY SELECT * FROM pushfleet.content_problems(message -> 'content', at || '/content');
    END IF;
END
$$;

CREATE FUNCTION pushfleet.named_text_problems(value jsonb, kind text, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
    WITH entry AS (
        SELECT e.key, e.value, at || pushfleet.pointer_step(e.key) AS at, e.value #>> '{}' AS said,
            lower(e.key COLLATE "C") AS name, jsonb_typeof(e.value) = 'string' AS is_text,
            row_number() OVER (PARTITION BY lower(e.key COLLATE "C") ORDER BY e.key COLLATE "C") AS place
        FROM jsonb_each(value) e
    )
    SELECT entry.at, 'override_invalid', 'is set by the server or kept by the provider'
    FROM entry
    WHERE CASE kind
        WHEN 'data' THEN entry.key IN ('from', 'message_type')
            OR starts_with(entry.key, 'google.') OR starts_with(entry.key, 'gcm.notification.')
        ELSE entry.name IN ('apns-id', 'apns-topic', 'authorization', 'content-encoding')
    END
    UNION ALL
    SELECT entry.at, 'override_invalid', 'must be a text' FROM entry WHERE NOT entry.is_text
    UNION ALL
    SELECT entry.at, 'override_invalid', 'stands here twice' FROM entry WHERE kind = 'headers' AND entry.place > 1
    UNION ALL
    SELECT entry.at, 'override_invalid', 'is nothing that the push service would take'
    FROM entry
    WHERE kind = 'headers' AND entry.is_text
        AND NOT (
            entry.key ~ '^[A-Za-z0-9!#$%&''*+.^_`|~-]{1,64}$'
            AND octet_length(entry.said) <= 1024
            AND entry.said !~ '[\u0001-\u001F\u007F]'
            AND pushfleet.is_header_value(entry.name, entry.said)
        );
END
$_$;

CREATE FUNCTION pushfleet.notify(app text, recipient jsonb, message jsonb, options jsonb DEFAULT '{}'::jsonb) RETURNS bigint
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
    seconds int;
    delivery jsonb;
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

    seconds := coalesce((options ->> 'ttlSeconds')::numeric, 2419200);
    delivery := options - '{idempotencyKey,notBefore,ttlSeconds,inDoubt}'::text[];
    IF seconds = 0 THEN
        -- No provider keeps it for a device that is away; it has a minute to get there, as DeliveryOptions.life says.
        delivery := delivery || '{"ttlSeconds": 0}';
        seconds := 60;
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
            coalesce(target.quiet_end, due) + make_interval(secs => seconds)
        FROM target
        RETURNING id
    )
    INSERT INTO pushfleet.notification_sibling (notification_id, sibling_id, run_id)
    SELECT result, queued.id, the_run FROM queued WHERE queued.id <> result;
    RETURN result;
END
$$;

COMMENT ON FUNCTION pushfleet.notify(app text, recipient jsonb, message jsonb, options jsonb) IS 'Queues one notification in the caller''s transaction; its id. PF400 invalid (all problems in DETAIL), PF403, PF404, PF409.';

CREATE FUNCTION pushfleet.override_problems(value jsonb, kind jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    schema CONSTANT jsonb := kind -> 'message';
    is_root CONSTANT boolean := schema -> 'fields' ? 'webpush';
    member record;
    seen text[] := '{}';
BEGIN
    IF schema IS NOT NULL THEN
        IF jsonb_typeof(value) <> 'object' THEN
            RETURN QUERY SELECT at, 'type_invalid', 'must be an object';
            RETURN;
        END IF;
        FOR member IN
            SELECT e.key, e.value, f.key AS name, f.value AS kind, at || pushfleet.pointer_step(e.key) AS at
            FROM jsonb_each(value) e
            LEFT JOIN LATERAL (
                SELECT f.key, f.value FROM jsonb_each(schema -> 'fields') f
                WHERE f.key = e.key OR lower(regexp_replace(f.key, '([A-Z])', '_\1', 'g')) = e.key AND NOT is_root
                ORDER BY f.key = e.key DESC
                LIMIT 1
            ) f ON true
            ORDER BY e.key COLLATE "C"
        LOOP
            IF member.name IS NULL THEN
                RETURN QUERY SELECT member.at, 'unknown_field', 'is not known in the provider''s message';
                CONTINUE;
            END IF;
            IF member.name = ANY (seen) THEN
                RETURN QUERY SELECT member.at, 'override_invalid', 'stands here in both spellings';
            END IF;
            seen := seen || member.name;
            RETURN QUERY SELECT * FROM pushfleet.override_problems(member.value, member.kind, member.at);
        END LOOP;
        RETURN QUERY
        SELECT at || '/' || needed.name, 'override_invalid', 'is missing'
        FROM (
            SELECT r.name FROM jsonb_array_elements_text(schema -> 'required') AS r (name)
            UNION ALL
            SELECT p.value FROM jsonb_each_text(schema -> 'pairs') p WHERE p.key = ANY (seen)
        ) needed
        WHERE needed.name <> ALL (seen);
    ELSIF kind ? 'list' AND jsonb_typeof(value) = 'array' THEN
        RETURN QUERY
        SELECT p.pointer, p.code, p.problem
        FROM jsonb_array_elements(value) WITH ORDINALITY AS element,
            pushfleet.override_problems(element.value, kind -> 'list', at || '/' || element.ordinality - 1) p;
    ELSIF kind = '"free"' AND at LIKE '%/apns/payload' AND jsonb_typeof(value) = 'object' THEN
        IF value ? 'aps' AND jsonb_typeof(value -> 'aps') <> 'object' THEN
            RETURN QUERY SELECT at || '/aps', 'override_invalid', 'must be an object';
        ELSIF jsonb_typeof(value #> '{aps,alert}') NOT IN ('string', 'object') THEN
            RETURN QUERY SELECT at || '/aps/alert', 'override_invalid', 'must be a text or an object';
        END IF;
    ELSIF kind IN ('"data"', '"headers"') AND jsonb_typeof(value) = 'object' THEN
        RETURN QUERY SELECT * FROM pushfleet.named_text_problems(value, kind #>> '{}', at);
    ELSIF NOT coalesce(pushfleet.is_override_value(value, kind), false) THEN
        RETURN QUERY SELECT at, 'override_invalid', 'is not what the provider takes here';
    END IF;
END
$$;

CREATE FUNCTION pushfleet.override_schema() RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
    SELECT $schema${"fields": {
        "android": {"message": {"fields": {
            "bandwidthConstrainedOk": "bool", "collapseKey": "string", "data": "data", "directBootOk": "bool",
            "fcmOptions": {"message": {"fields": {"analyticsLabel": "label"}}},
            "notification": {"message": {
                "fields": {
                    "body": "string", "bodyLocArgs": {"list": "string"}, "bodyLocKey": "string",
                    "bypassProxyNotification": "bool", "channelId": "string", "clickAction": "string",
                    "color": "color", "defaultLightSettings": "bool", "defaultSound": "bool",
                    "defaultVibrateTimings": "bool", "eventTime": "instant", "icon": "string", "image": "string",
                    "lightSettings": {"message": {
                        "fields": {
                            "color": {"message": {"fields": {
                                "red": "fraction", "green": "fraction", "blue": "fraction", "alpha": "fraction"
                            }}},
                            "lightOnDuration": {"duration": 315576000000},
                            "lightOffDuration": {"duration": 315576000000}
                        },
                        "required": ["color", "lightOnDuration", "lightOffDuration"]
                    }},
                    "localOnly": "bool", "notificationCount": "int32",
                    "notificationPriority": {"word": [
                        "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                        "PRIORITY_MAX"
                    ]},
                    "proxy": {"word": ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]},
                    "sound": "string", "sticky": "bool", "tag": "string", "ticker": "string", "title": "string",
                    "titleLocArgs": {"list": "string"}, "titleLocKey": "string",
                    "vibrateTimings": {"list": {"duration": 315576000000}},
                    "visibility": {"word": ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]}
                },
                "pairs": {"titleLocArgs": "titleLocKey", "bodyLocArgs": "bodyLocKey"}
            }},
            "priority": {"word": ["NORMAL", "HIGH", "normal", "high"]},
            "restrictedPackageName": "string", "restrictedSatelliteOk": "bool", "ttl": {"duration": 2419200}
        }}},
        "apns": {"message": {"fields": {
            "fcmOptions": {"message": {"fields": {"analyticsLabel": "label", "image": "string"}}},
            "headers": "headers", "liveActivityToken": "string", "payload": "free"
        }}},
        "webpush": {"message": {"fields": {
            "data": "data",
            "fcmOptions": {"message": {"fields": {"analyticsLabel": "label", "link": "httpsLink"}}},
            "headers": "headers", "notification": "free"
        }}}
    }}$schema$::jsonb
$_$;

CREATE FUNCTION pushfleet.pause(which bigint, because smallint DEFAULT NULL::smallint, detail text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    IF because IS NOT NULL AND NOT EXISTS (SELECT FROM pushfleet.reason r WHERE r.code = because) THEN
        RAISE EXCEPTION 'because: % is no code of pushfleet.reason; leave it out, or say why in detail', because
            USING ERRCODE = 'PF400';
    END IF;
    RETURN pushfleet.pause_run(which, because, detail);
END
$$;

COMMENT ON FUNCTION pushfleet.pause(which bigint, because smallint, detail text) IS 'Stops a run: no request begins later than a second after the commit. False: it is not running.';

CREATE FUNCTION pushfleet.pause_app(app text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    UPDATE pushfleet.app a
    SET paused_at = now()
    WHERE a.id = pushfleet.require_caller(pause_app.app) AND a.paused_at IS NULL;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pushfleet.pause_app(app text) IS 'Stops all runs and notifications of an app. False: it was paused already.';

CREATE FUNCTION pushfleet.pause_run(which bigint, because smallint, detail text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH paused AS (
        UPDATE pushfleet.run
        SET status = 2, paused_at = now(), paused_reason = because, paused_detail = detail
        WHERE run.id = which AND run.status = 1
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM paused)
$$;

CREATE FUNCTION pushfleet.placeholders(value text) RETURNS SETOF text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
    SELECT part[1]
    FROM regexp_matches(
        value,
        '\{\{([ \t]*[A-Za-z_][A-Za-z0-9_.-]{0,63}[ \t]*(?:\|(?:[^}]|\}(?!\}))*)?\}\})?', 'g') AS part
    WHERE strpos(value, '{{') > 0;
END
$$;

CREATE FUNCTION pushfleet.pointer_step(key text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN '/' || replace(replace(key, '~', '~0'), '/', '~1');
END
$$;

CREATE FUNCTION pushfleet.presentation_problems(presentation jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
BEGIN
    RETURN QUERY
    WITH field AS (
        SELECT f.key, f.value, at || '/' || f.key AS at, f.value #>> '{}' AS said,
            CASE WHEN f.key IN ('badge', 'relevanceScore') THEN 'number' ELSE 'string' END AS type
        FROM jsonb_each(CASE jsonb_typeof(presentation) WHEN 'object' THEN presentation ELSE '{}' END) f
        WHERE f.key IN ('sound', 'badge', 'threadId', 'interruptionLevel', 'relevanceScore', 'channelId')
    )
    SELECT p.pointer, p.code, p.problem
    FROM pushfleet.member_problems(
        presentation, at, '{sound,badge,threadId,icon,interruptionLevel,relevanceScore,channelId}') p
    UNION ALL
    SELECT p.pointer, p.code, p.problem
    FROM pushfleet.image_problems(presentation -> 'icon', at || '/icon', 'presentation_invalid') p
    WHERE jsonb_typeof(presentation) = 'object'
    UNION ALL
    SELECT field.at, 'type_invalid', 'must be a ' || field.type FROM field WHERE jsonb_typeof(field.value) <> field.type
    UNION ALL
    SELECT field.at, 'presentation_invalid', CASE field.key
        WHEN 'badge' THEN 'must be a whole number from 0 to 99999'
        WHEN 'relevanceScore' THEN 'must be a number from 0 to 1'
        WHEN 'threadId' THEN 'must have 1 to 64 characters'
        WHEN 'interruptionLevel' THEN 'must be passive, active, time-sensitive or critical'
        ELSE 'must be 1 to 64 letters, digits, _, . and -'
    END
    FROM field
    WHERE jsonb_typeof(field.value) = field.type
        AND NOT CASE field.key
            WHEN 'badge' THEN field.said::numeric BETWEEN 0 AND 99999 AND field.said::numeric % 1 = 0
            WHEN 'relevanceScore' THEN field.said::numeric BETWEEN 0 AND 1
            WHEN 'threadId' THEN field.said <> '' AND NOT pushfleet.is_too_long(field.said, 64)
            WHEN 'interruptionLevel' THEN field.said IN ('passive', 'active', 'time-sensitive', 'critical')
            ELSE field.said ~ '^[A-Za-z0-9_.-]{1,64}$'
        END;
END
$_$;

CREATE FUNCTION pushfleet.quiet_end(instant timestamp with time zone, zone text, fallback text, quiet_from time without time zone, quiet_until time without time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
DECLARE
    known text := coalesce((SELECT z.name FROM pushfleet.time_zone z WHERE z.key = lower(zone)), fallback);
    shown date;
    ends timestamptz;
BEGIN
    IF quiet_from IS NULL OR instant IS NULL OR NOT isfinite(instant) THEN
        RETURN NULL;
    END IF;
    BEGIN
        shown := pushfleet.local_time(instant, known)::date;
    EXCEPTION WHEN invalid_parameter_value THEN
        known := fallback;
        shown := pushfleet.local_time(instant, known)::date;
    END;
    -- The day before for those over midnight, the day after for clocks that go back over it.
    FOR ahead IN -1 .. 1 LOOP
        IF pushfleet.local_instant(shown + ahead + quiet_from, known) <= instant THEN
            ends := pushfleet.local_instant(
                shown + ahead + CASE WHEN quiet_until > quiet_from THEN 0 ELSE 1 END + quiet_until, known);
            IF instant < ends THEN
                RETURN ends;
            END IF;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

CREATE FUNCTION pushfleet.record_events(in_app bigint, in_ids uuid[], in_runs bigint[], in_numbers bigint[], in_kinds smallint[], in_at timestamp with time zone[]) RETURNS smallint[]
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.refresh_time_zones() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH known AS MATERIALIZED (
        SELECT lower(z.name) AS key, min(z.name) AS name
        FROM pg_catalog.pg_timezone_names z
        WHERE z.name <> 'localtime' AND z.name NOT LIKE 'posix%'
        GROUP BY lower(z.name)
    ),
    gone AS (
        DELETE FROM pushfleet.time_zone
        WHERE time_zone.key NOT IN (SELECT known.key FROM known) AND EXISTS (SELECT FROM known)
    )
    INSERT INTO pushfleet.time_zone (key, name)
    SELECT known.key, known.name
    FROM known
    ON CONFLICT (key) DO NOTHING
$$;

CREATE FUNCTION pushfleet.refuse(who text, problems jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    IF problems IS NOT NULL THEN
        RAISE EXCEPTION '%: % problem(s), the first at %: %', who, jsonb_array_length(problems),
            problems #>> '{0,pointer}', problems #>> '{0,message}'
            USING ERRCODE = 'PF400', DETAIL = problems::text;
    END IF;
END
$$;

CREATE FUNCTION pushfleet.refuse_template_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RAISE EXCEPTION 'a template''s version cannot be changed' USING HINT = 'Save it again: that makes a new version.';
END
$$;

CREATE FUNCTION pushfleet.register_subscriber(app text, installation jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    the_app bigint := pushfleet.require_caller(register_subscriber.app);
    result bigint;
BEGIN
    PERFORM pushfleet.refuse('register_subscriber', (
        SELECT jsonb_agg(jsonb_build_object('pointer', p.pointer, 'code', p.code, 'message', p.problem)
            ORDER BY p.pointer COLLATE "C", p.code)
        FROM pushfleet.installation_problems(installation) p
    ));
    WITH said AS (
        SELECT given.external_id, nullif(given.user_id, '') AS user_id,
            CASE given.transport WHEN 'apns' THEN 1 WHEN 'fcm' THEN 2 ELSE 3 END::smallint AS transport,
            CASE given.transport WHEN 'apns' THEN lower(given.address COLLATE "C") ELSE given.address END AS address,
            CASE WHEN given.transport <> 'apns' THEN 0 WHEN given.environment = 'sandbox' THEN 2 ELSE 1 END::smallint
                AS environment,
            CASE given.transport WHEN 'webpush'
                THEN replace(encode(pushfleet.base64_bytes(given.p256dh), 'base64'), E'\n', '') END AS p256dh,
            CASE given.transport WHEN 'webpush'
                THEN encode(pushfleet.base64_bytes(given.auth), 'base64') END AS auth,
            nullif(given.language, '') AS language, nullif(given.time_zone, '') AS time_zone,
            coalesce(given.attributes, '{}') AS attributes,
            ARRAY(
                SELECT tag.value
                FROM jsonb_array_elements_text(coalesce(given.tags, '[]')) WITH ORDINALITY AS tag
                WHERE NOT pushfleet.is_blank(tag.value)
                GROUP BY tag.value
                ORDER BY min(tag.ordinality)
            ) AS tags,
            -- A device whose clock is ahead registers now.
            least(nullif(given.registered_at, '')::timestamptz, clock_timestamp()) AS registered_at,
            (
                SELECT max(credential.id)
                FROM pushfleet.credential
                WHERE credential.app_id = the_app AND credential.transport = 3
                    AND credential.facts ->> 'public_key' = rtrim(translate(replace(encode(
                        pushfleet.base64_bytes(nullif(given.vapid_key, '')), 'base64'), E'\n', ''), '+/', '-_'), '=')
            ) AS vapid_credential
        FROM jsonb_to_record(installation) AS given (
            external_id text, user_id text, transport text, address text, environment text, p256dh text, auth text,
            language text, time_zone text, attributes jsonb, tags jsonb, registered_at text, vapid_key text
        )
    )
    INSERT INTO pushfleet.subscriber AS known (
        shard, app_id, transport, service, environment, external_id, user_id, address, p256dh, auth, language,
        time_zone, attributes, tags, registered_at, seen_at, vapid_credential
    )
    SELECT a.shards[1 + abs(hashtextextended(said.external_id, a.id) % cardinality(a.shards))], a.id, said.transport,
        CASE
                WHEN said.transport <> 3 THEN 0
                WHEN said.address LIKE 'https://fcm.googleapis.com/%' THEN 1
                WHEN said.address LIKE 'https://%push.services.mozilla.com/%' THEN 2
                WHEN said.address LIKE 'https://web.push.apple.com/%' THEN 3
                WHEN said.address LIKE 'https://%.notify.windows.com/%' THEN 4
                ELSE 5
            END,
        said.environment, said.external_id, said.user_id, said.address, said.p256dh, said.auth, said.language,
        said.time_zone, said.attributes, said.tags, said.registered_at, now(), said.vapid_credential
    FROM said
    JOIN pushfleet.app a ON a.id = the_app
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
                AND excluded.vapid_credential IS NOT NULL THEN 1
            WHEN excluded.registered_at > known.state_since THEN 1
            ELSE known.state
        END,
        vapid_credential = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                THEN excluded.vapid_credential
            ELSE coalesce(excluded.vapid_credential, known.vapid_credential)
        END,
        state_since = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                OR known.state <> 1 AND excluded.registered_at > known.state_since THEN excluded.registered_at
            ELSE known.state_since
        END,
        evidence = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                OR excluded.registered_at > known.state_since THEN NULL
            ELSE known.evidence
        END,
        registered_at = CASE
            WHEN (known.transport, known.address) <> (excluded.transport, excluded.address)
                THEN excluded.registered_at
            -- A refresh of what is well is no new registration.
            WHEN known.state = 1 AND coalesce(installation ->> 'registered_at', '') = '' THEN known.registered_at
            ELSE least(greatest(known.registered_at, excluded.registered_at), clock_timestamp())
        END
    RETURNING known.id INTO STRICT result;
    RETURN result;
END
$$;

COMMENT ON FUNCTION pushfleet.register_subscriber(app text, installation jsonb) IS 'Registers or refreshes an installation (the import''s columns as JSON); its id. PF400, PF403, PF404.';

CREATE FUNCTION pushfleet.require_caller(which text) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.require_run(which bigint) RETURNS void
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    owner text := (SELECT a.name FROM pushfleet.run r JOIN pushfleet.app a ON a.id = r.app_id WHERE r.id = which);
BEGIN
    IF owner IS NOT NULL THEN
        PERFORM pushfleet.require_caller(owner);
    END IF;
END
$$;

CREATE FUNCTION pushfleet.resolve_message(which_app bigint, said jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    found jsonb;
BEGIN
    IF NOT coalesce(jsonb_typeof(said) = 'object' AND said ? 'template', false) THEN
        RETURN said;
    END IF;
    SELECT template.message INTO found
    FROM pushfleet.template
    WHERE template.app_id = which_app AND template.name = said ->> 'template'
    ORDER BY template.version DESC
    LIMIT 1;
    IF found IS NULL THEN
        RAISE EXCEPTION 'message.template: the app has no template %', said -> 'template'
            USING ERRCODE = 'PF400', HINT = 'Save it first: pushfleet template save.';
    END IF;
    RETURN found;
END
$$;

CREATE FUNCTION pushfleet.restore_tokens(app text, credential text, from_at timestamp with time zone, to_at timestamp with time zone) RETURNS bigint
    LANGUAGE sql
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH chosen AS MATERIALIZED (
        SELECT c.id
        FROM pushfleet.credential c
        JOIN pushfleet.app a ON a.id = c.app_id
        WHERE a.name = restore_tokens.app AND c.name = restore_tokens.credential
    ),
    undone AS (
        UPDATE pushfleet.token_change t
        SET verdict = 2, verdict_at = now()
        FROM chosen
        WHERE t.credential_id = chosen.id
            AND t.at >= restore_tokens.from_at
            AND t.at < restore_tokens.to_at
            AND t.verdict IN (0, 1, 4)
            AND t.to_state <> 1
        RETURNING t.id, t.shard, t.subscriber_id, t.address_version, t.from_state
    ),
    first_state AS MATERIALIZED (
        SELECT DISTINCT ON (undone.shard, undone.subscriber_id) undone.shard, undone.subscriber_id,
            undone.address_version, undone.from_state
        FROM undone
        ORDER BY undone.shard, undone.subscriber_id, undone.id
    ),
    closed AS (
        UPDATE pushfleet.token_wave w
        SET state = 1, decided_at = now()
        FROM chosen
        WHERE w.credential_id = chosen.id
            AND w.state = 0
            AND w.from_at < restore_tokens.to_at
            AND w.to_at > restore_tokens.from_at
    ),
    restored AS (
        UPDATE pushfleet.subscriber s
        SET state = first_state.from_state, state_since = now(), evidence = NULL
        FROM first_state
        WHERE s.shard = first_state.shard
            AND s.id = first_state.subscriber_id
            AND s.address_version = first_state.address_version
            AND s.state <> 1
        RETURNING 1
    )
    SELECT count(*) FROM restored
$$;

COMMENT ON FUNCTION pushfleet.restore_tokens(app text, credential text, from_at timestamp with time zone, to_at timestamp with time zone) IS 'Takes back what answers did to addresses from one instant to the other; how many are back.';

CREATE FUNCTION pushfleet.resume(which bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    UPDATE pushfleet.run
    SET status = 1, paused_at = NULL, paused_reason = NULL, paused_detail = NULL
    WHERE run.id = which AND run.status = 2;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pushfleet.resume(which bigint) IS 'Goes on with a paused run. False: it is not paused.';

CREATE FUNCTION pushfleet.resume_app(app text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    UPDATE pushfleet.app a
    SET paused_at = NULL
    WHERE a.id = pushfleet.require_caller(resume_app.app) AND a.paused_at IS NOT NULL;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pushfleet.resume_app(app text) IS 'Goes on with a paused app; runs that are paused stay so. False: it was not.';

CREATE FUNCTION pushfleet.rotate_bucket(seen integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $_$
DECLARE
    next_id int;
BEGIN
    LOCK TABLE pushfleet.bucket IN SHARE ROW EXCLUSIVE MODE;
    SELECT b.id INTO next_id
    FROM pushfleet.bucket b
    WHERE b.sealed_at IS NULL AND b.id IS DISTINCT FROM seen
    ORDER BY b.id DESC
    LIMIT 1;
    IF next_id IS NOT NULL THEN
        RETURN next_id;
    END IF;
    UPDATE pushfleet.bucket SET sealed_at = now() WHERE sealed_at IS NULL;
    INSERT INTO pushfleet.bucket DEFAULT VALUES RETURNING id INTO next_id;
    EXECUTE format('CREATE TABLE pushfleet.job_%s (LIKE pushfleet.job INCLUDING DEFAULTS)', next_id);
    EXECUTE format('CREATE INDEX job_%1$s_batch ON pushfleet.job_%1$s (batch_id)', next_id);
    EXECUTE format('ALTER TABLE pushfleet.job ATTACH PARTITION pushfleet.job_%1$s FOR VALUES IN (%1$s)', next_id);
    RETURN next_id;
END
$_$;

CREATE FUNCTION pushfleet.route_rate(rate integer, ramp interval, ramp_since timestamp with time zone, slow_rate integer, slow_until timestamp with time zone, at timestamp with time zone) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT least(
        CASE
            WHEN rate <= 1000 OR ramp_since IS NULL OR at - ramp_since >= ramp THEN rate
            ELSE greatest(
                1000, rate / 10,
                floor(rate * (extract(epoch FROM at - ramp_since) / extract(epoch FROM ramp)))::int)
        END,
        CASE
            WHEN slow_rate IS NULL OR at - slow_until > interval '100 s' THEN NULL
            WHEN at <= slow_until THEN slow_rate
            ELSE least(1000000, slow_rate * 2 ^ (extract(epoch FROM at - slow_until) / 5))::int
        END
    )
$$;

CREATE FUNCTION pushfleet.schedule_campaign(campaign jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    file CONSTANT jsonb := schedule_campaign.campaign;
    hash CONSTANT bytea := sha256(convert_to(file::text, 'UTF8'));
    the_app bigint;
    known record;
    result bigint;
BEGIN
    PERFORM pushfleet.refuse('schedule_campaign', (
        SELECT jsonb_agg(jsonb_build_object('pointer', p.pointer, 'code', p.code, 'message', p.problem)
            ORDER BY p.pointer COLLATE "C", p.code)
        FROM pushfleet.campaign_problems(file) p
    ));
    the_app := pushfleet.require_caller(file ->> 'app');
    INSERT INTO pushfleet.campaign (app_id, name, idempotency_key, body_hash, body, state)
    VALUES (the_app, file ->> 'name', file ->> 'idempotencyKey', hash, file, 0)
    ON CONFLICT (app_id, idempotency_key) DO NOTHING
    RETURNING id INTO result;
    IF result IS NOT NULL THEN
        RETURN result;
    END IF;
    SELECT c.id, c.body_hash INTO STRICT known
    FROM pushfleet.campaign c
    WHERE c.app_id = the_app AND c.idempotency_key = file ->> 'idempotencyKey';
    IF known.body_hash <> hash THEN
        RAISE EXCEPTION 'idempotencyKey: it already names campaign % with another body; use another key', known.id
            USING ERRCODE = 'PF409';
    END IF;
    RETURN known.id;
END
$$;

COMMENT ON FUNCTION pushfleet.schedule_campaign(campaign jsonb) IS 'Stores a campaign file; its id. PF400, PF403, PF404, PF409. A scheduler checks what SQL cannot.';

CREATE FUNCTION pushfleet.settled_until(grace interval DEFAULT '00:01:00'::interval) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT CASE
        WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
        THEN least(
            greatest(
                now() - grace,
                least(
                    now() - interval '1 s',
                    min(a.xact_start) FILTER (WHERE a.xact_start IS NULL OR a.xact_start > now() - grace)
                )
            ),
            min(a.xact_start) FILTER (WHERE writer.pid IS NOT NULL)
        )
        ELSE now() - grace
    END
    FROM pg_stat_activity a
    LEFT JOIN (
        SELECT DISTINCT l.pid
        FROM pg_locks l
        WHERE l.relation = 'pushfleet.delivery'::regclass
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
            AND l.mode = 'RowExclusiveLock'
            AND l.granted
    ) writer ON writer.pid = a.pid
    WHERE a.datname = current_database()
        AND a.pid <> pg_backend_pid()
        AND a.backend_type = 'client backend'
$$;

CREATE FUNCTION pushfleet.standing_run(which bigint, day date, policy smallint) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.stop(which bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    IF EXISTS (SELECT FROM pushfleet.run WHERE run.id = which AND run.standing) THEN
        RAISE EXCEPTION 'run: % holds the single notifications of a day and cannot be cancelled; pause it or its app, '
            'or take one back by cancel_notification(id)', which
            USING ERRCODE = 'PF400';
    END IF;
    UPDATE pushfleet.run
    SET status = 3
    WHERE run.id = which AND run.status IN (1, 2);
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pushfleet.stop(which bigint) IS 'Cancels a run without counting. False: it is over, or unknown.';

CREATE FUNCTION pushfleet.stopped(which bigint) RETURNS TABLE(delivered bigint, in_flight_at_most bigint, stopped bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    RETURN QUERY
    SELECT
        coalesce(sum(b.delivered), 0)::bigint,
        coalesce(sum(flight.jobs), 0)::bigint,
        coalesce(sum(b.size - b.settled - flight.jobs), 0)::bigint + (
            SELECT count(*)
            FROM pushfleet.run_progress p
            JOIN pushfleet.retry ON retry.shard = p.shard AND retry.run_id = p.run_id
            WHERE p.run_id = which
        ) + (
            SELECT count(*)
            FROM pushfleet.run_progress p
            JOIN pushfleet.notification n ON n.shard = p.shard AND n.run_id = p.run_id
            WHERE p.run_id = which
        )
    FROM pushfleet.run_progress p
    JOIN pushfleet.batch b ON b.shard = p.shard AND b.run_id = p.run_id
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN b.state = 1
            THEN bit_count(~b.marked & rpad(repeat('1', b.announced), b.size, '0')::varbit)
            ELSE 0
        END AS jobs
    ) flight
    WHERE p.run_id = which;
END
$$;

COMMENT ON FUNCTION pushfleet.stopped(which bigint) IS 'Of a run: delivered, announced and without an outcome, and open otherwise. Exact once it is settled.';

CREATE FUNCTION pushfleet.sum_tallies() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

CREATE FUNCTION pushfleet.summarize_day(parent text, day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    SET lock_timeout TO '50ms'
    AS $$
DECLARE
    by_time regclass := to_regclass('pushfleet.' || parent || '_' || to_char(day, 'YYYYMMDD') || '_at');
BEGIN
    IF by_time IS NOT NULL THEN
        PERFORM brin_summarize_new_values(by_time);
    END IF;
EXCEPTION
    WHEN lock_not_available THEN
        NULL;
END
$$;

CREATE FUNCTION pushfleet.take_back(in_shard smallint, which bigint, as_outcome smallint) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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
            shard, run_id, number, subscriber_id, batch_id, at, ordinal, outcome, attempts, content_version
        )
        SELECT in_shard, t.run_id, t.id, t.subscriber_id, made.id, clock_timestamp(), 0, as_outcome, 0, t.content_version
        FROM taken t
        CROSS JOIN made
        RETURNING number
    )
    SELECT count(*)::int FROM recorded
$$;

CREATE FUNCTION pushfleet.take_slots(of_run bigint, of_route bigint, wanted integer, ahead interval, at timestamp with time zone DEFAULT clock_timestamp()) RETURNS TABLE(begins_at timestamp with time zone, slots integer)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    keys text[];
    rates int[];
    are_shared boolean[];
    is_campaign boolean;
    missing int := wanted;
    allowed int;
    given int[];
    this_second timestamptz := date_trunc('second', at);
BEGIN
    -- A route that was silent for a minute starts from below.
    UPDATE route
    SET ramp_since = at
    WHERE route.id = of_route
        AND route.rate > 1000
        AND (route.ramp_since IS NULL OR at - route.ramp_since > greatest(route.ramp, interval '60 s'))
        AND NOT EXISTS (
            SELECT FROM rate_second r
            WHERE r.key = 'route:' || of_route AND r.at_second > at - interval '60 s'
        );

    SELECT array_agg(l.key ORDER BY l.key), array_agg(l.rate ORDER BY l.key), array_agg(l.is_shared ORDER BY l.key),
        bool_and(run.lane = 1)
    INTO keys, rates, are_shared, is_campaign
    FROM run
    JOIN route ON route.id = of_route
    JOIN app ON app.id = run.app_id
    CROSS JOIN LATERAL (
        VALUES
            ('run:' || run.id, run.rate, false),
            (
                'route:' || route.id,
                route_rate(route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, at),
                true
            ),
            ('app:' || app.id, app.rate, true)
    ) AS l (key, rate, is_shared)
    WHERE run.id = of_run AND l.rate IS NOT NULL;
    IF keys IS NULL THEN
        RETURN QUERY SELECT NULL::timestamptz, wanted;
        RETURN;
    END IF;

    WHILE this_second < at + ahead AND missing > 0 LOOP
        -- In the order of keys, as everybody locks them.
        INSERT INTO rate_second (key, at_second, taken, granted)
        SELECT k.key, this_second, 0, 0
        FROM unnest(keys) AS k (key)
        ORDER BY k.key
        ON CONFLICT (key, at_second) DO NOTHING;
        PERFORM FROM rate_second r
        WHERE r.key = ANY (keys) AND r.at_second = this_second
        ORDER BY r.key
        FOR UPDATE;

        -- Below 200 a second a slice has no whole tenth to keep: there the second as a whole keeps it.
        SELECT least(missing, min(greatest(1, l.rate * 9 / 10) - taken_by.campaigns))
        INTO allowed
        FROM unnest(keys, rates, are_shared) AS l (key, rate, is_shared)
        JOIN rate_second r ON r.key = l.key AND r.at_second = this_second
        CROSS JOIN LATERAL (SELECT sum(c.n)::int AS campaigns FROM unnest(r.campaign_slices) AS c (n)) taken_by
        WHERE is_campaign AND l.is_shared AND l.rate < 200;

        WITH free AS (
            SELECT s.slice,
                min(greatest(0, least(
                    ((s.slice + 1) * l.rate) / 20 - (s.slice * l.rate) / 20 - r.slices[s.slice + 1],
                    CASE WHEN is_campaign AND l.is_shared AND l.rate >= 200 THEN
                        ((s.slice + 1) * (l.rate * 9 / 10)) / 20 - (s.slice * (l.rate * 9 / 10)) / 20
                        - r.campaign_slices[s.slice + 1]
                    END
                ))) AS n
            FROM generate_series(0, 19) AS s (slice)
            CROSS JOIN unnest(keys, rates, are_shared) AS l (key, rate, is_shared)
            JOIN rate_second r ON r.key = l.key AND r.at_second = this_second
            GROUP BY s.slice
        ),
        open AS (
            SELECT f.slice,
                CASE
                    WHEN this_second + f.slice * interval '50 ms' > at - interval '30 ms'
                        AND this_second + f.slice * interval '50 ms' < at + ahead
                    THEN f.n
                    ELSE 0
                END AS n
            FROM free f
        ),
        share AS (
            SELECT o.slice, o.n, (sum(o.n) OVER (ORDER BY o.slice) - o.n)::int AS before
            FROM open o
        )
        SELECT array_agg(greatest(0, least(share.n, coalesce(allowed, missing) - share.before)) ORDER BY share.slice)
        INTO given
        FROM share;

        UPDATE rate_second r
        SET taken = r.taken + total.n,
            granted = total.n,
            slices = (
                SELECT array_agg(old.n + new.n ORDER BY old.slice)
                FROM unnest(r.slices) WITH ORDINALITY AS old (n, slice)
                JOIN unnest(given) WITH ORDINALITY AS new (n, slice) USING (slice)
            ),
            campaign_slices = CASE WHEN is_campaign THEN (
                SELECT array_agg(old.n + new.n ORDER BY old.slice)
                FROM unnest(r.campaign_slices) WITH ORDINALITY AS old (n, slice)
                JOIN unnest(given) WITH ORDINALITY AS new (n, slice) USING (slice)
            ) ELSE r.campaign_slices END
        FROM (SELECT sum(g.n)::int AS n FROM unnest(given) AS g (n)) total
        WHERE r.key = ANY (keys) AND r.at_second = this_second AND total.n > 0;

        RETURN QUERY
        SELECT this_second + (g.slice - 1) * interval '50 ms', g.n
        FROM unnest(given) WITH ORDINALITY AS g (n, slice)
        WHERE g.n > 0
        ORDER BY g.slice;
        missing := missing - (SELECT sum(g.n)::int FROM unnest(given) AS g (n));
        this_second := this_second + interval '1 s';
    END LOOP;
END
$$;

CREATE FUNCTION pushfleet.test_place(campaign bigint, user_id text, subscriber bigint) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT ('x' || left(md5(campaign || coalesce(':u:' || user_id, ':s:' || subscriber)), 13))::bit(52)::bigint
        / 4503599627370496::float8
$$;

CREATE FUNCTION pushfleet.text_problems(value jsonb, at text, at_most integer, missing text, too_long text, takes_placeholders boolean) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
DECLARE
    said text := value #>> '{}';
BEGIN
    IF value IS NULL THEN
        RETURN QUERY SELECT at, missing, 'is missing';
    ELSIF jsonb_typeof(value) <> 'string' THEN
        RETURN QUERY SELECT at, 'type_invalid', 'must be a text';
    ELSIF pushfleet.is_blank(said) THEN
        RETURN QUERY SELECT at, missing, 'is empty';
    ELSE
        IF pushfleet.is_too_long(said, at_most) THEN
            RETURN QUERY SELECT at, too_long, format('has more than %s characters', at_most);
        END IF;
        IF NOT takes_placeholders AND strpos(said, '{{') > 0 THEN
            RETURN QUERY SELECT at, 'placeholder_not_allowed', 'may not hold {{';
        ELSIF takes_placeholders AND EXISTS (SELECT FROM pushfleet.placeholders(said) p WHERE p IS NULL) THEN
            RETURN QUERY SELECT at, 'placeholder_malformed', 'holds {{ without a valid placeholder after it';
        END IF;
    END IF;
END
$$;

CREATE FUNCTION pushfleet.unregister_subscriber(app text, recipient jsonb) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    the_app bigint := pushfleet.require_caller(unregister_subscriber.app);
    result int;
BEGIN
    PERFORM pushfleet.refuse('unregister_subscriber', (
        SELECT jsonb_agg(jsonb_build_object('pointer', p.pointer, 'code', p.code, 'message', p.problem))
        FROM pushfleet.check_recipient(recipient) p
    ));
    UPDATE pushfleet.subscriber s
    SET state = 3, state_since = now(), evidence = NULL
    FROM pushfleet.app a
    WHERE a.id = the_app AND s.shard = ANY (a.shards) AND s.app_id = a.id AND s.state <> 3
        AND CASE
            WHEN recipient ? 'subscriber' THEN s.id = (recipient ->> 'subscriber')::bigint
            WHEN recipient ? 'externalId' THEN s.external_id = recipient ->> 'externalId'
            ELSE s.user_id = recipient ->> 'user'
        END;
    GET DIAGNOSTICS result = ROW_COUNT;
    RETURN result;
END
$$;

COMMENT ON FUNCTION pushfleet.unregister_subscriber(app text, recipient jsonb) IS 'Sends nothing more to an installation, or to all of a user''s; how many there were. PF400, PF403, PF404.';

CREATE FUNCTION pushfleet.vacuum_past_days() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
    SET lock_timeout TO '50ms'
    AS $$
DECLARE
    past regclass;
BEGIN
    FOR past IN
        SELECT child.oid::regclass
        FROM pg_inherits i
        JOIN pg_class child ON child.oid = i.inhrelid
        WHERE i.inhparent IN ('pushfleet.delivery'::regclass, 'pushfleet.attempt'::regclass)
            AND child.reloptions @> '{autovacuum_vacuum_insert_threshold=-1}'
            AND right(child.relname, 8) < to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
        ORDER BY 1
    LOOP
        EXECUTE format('ALTER TABLE %s RESET (autovacuum_vacuum_insert_threshold)', past);
    END LOOP;
EXCEPTION
    -- An index is being built, or the day is going: the next call is a minute away, and days to come must not wait.
    WHEN lock_not_available THEN
        NULL;
END
$$;

CREATE FUNCTION pushfleet.variant_problems(value jsonb, at text) RETURNS TABLE(pointer text, code text, problem text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY SELECT * FROM pushfleet.member_problems(value, at, '{title,body,image,url,actions}');
    IF jsonb_typeof(value) <> 'object' THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM pushfleet.text_problems(
        value -> 'title', at || '/title', 200, 'title_missing', 'title_too_long', true);
    RETURN QUERY SELECT * FROM pushfleet.text_problems(
        value -> 'body', at || '/body', 1000, 'body_missing', 'body_too_long', true);
    IF value ? 'image' THEN
        RETURN QUERY SELECT * FROM pushfleet.image_problems(value -> 'image', at || '/image', 'image_invalid');
    END IF;
    IF value ? 'url' THEN
        RETURN QUERY SELECT * FROM pushfleet.link_problems(value -> 'url', at || '/url');
    END IF;
    IF value ? 'actions' THEN
        RETURN QUERY SELECT * FROM pushfleet.action_problems(value -> 'actions', at || '/actions');
    END IF;
END
$$;

CREATE FUNCTION pushfleet.wave_at(wall timestamp without time zone, zone text, fallback text, past_local smallint, begun_at timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
DECLARE
    known text := coalesce((SELECT z.name FROM pushfleet.time_zone z WHERE z.key = lower(zone)), fallback);
    due timestamptz;
    day date;
BEGIN
    IF known IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        due := pushfleet.local_instant(wall, known);
    EXCEPTION WHEN invalid_parameter_value THEN
        IF fallback IS NULL THEN
            RETURN NULL;
        END IF;
        known := fallback;
        due := pushfleet.local_instant(wall, known);
    END;
    IF due >= begun_at THEN
        RETURN due;
    END IF;
    IF past_local = 0 THEN
        RETURN begun_at;
    ELSIF past_local = 1 THEN
        RETURN '-infinity';
    END IF;
    day := pushfleet.local_time(begun_at, known)::date;
    due := pushfleet.local_instant(day + wall::time, known);
    IF due < begun_at THEN
        due := pushfleet.local_instant(day + 1 + wall::time, known);
    END IF;
    RETURN due;
END
$$;

CREATE FUNCTION pushfleet.white_space() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT E'\u0009\u000A\u000B\u000C\u000D \u0085\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007'
        '\u2008\u2009\u200A\u2028\u2029\u202F\u205F\u3000'
$$;

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

CREATE FUNCTION pushfleet_report.transport_name(code smallint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT (ARRAY['apns', 'fcm', 'webpush'])[code] $$;

CREATE FUNCTION pushfleet_report.wilson(successes bigint, trials bigint, sign integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT greatest(0, least(1,
        (p + z2 / (2 * n) + sign * sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))) / (1 + z2 / n)))
    FROM (SELECT successes::double precision / trials AS p, trials::double precision AS n, 3.841458820694124 AS z2) s
    WHERE trials > 0 AND successes BETWEEN 0 AND trials
$$;

CREATE AGGREGATE pushfleet.joined(anycompatiblearray) (
    SFUNC = array_cat,
    STYPE = anycompatiblearray
);

CREATE TABLE pushfleet.access_token (
    credential_id bigint NOT NULL,
    sealed bytea,
    issued_at timestamp with time zone,
    expires_at timestamp with time zone,
    refreshing_by uuid,
    refreshing_until timestamp with time zone
)
WITH (fillfactor='50');

CREATE TABLE pushfleet.batch (
    shard smallint NOT NULL,
    id bigint NOT NULL,
    run_id bigint NOT NULL,
    route_id bigint NOT NULL,
    tag bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    holder uuid,
    first_subscriber_id bigint NOT NULL,
    last_subscriber_id bigint NOT NULL,
    content_version bigint,
    bucket_id integer,
    epoch integer DEFAULT 0 NOT NULL,
    claim_no integer DEFAULT 0 NOT NULL,
    size integer NOT NULL,
    collected integer DEFAULT 0 NOT NULL,
    state smallint NOT NULL,
    origin smallint NOT NULL,
    lapses smallint DEFAULT 0 NOT NULL,
    announced smallint DEFAULT 0 NOT NULL,
    may_repeat integer DEFAULT 0 NOT NULL,
    moved integer DEFAULT 0 NOT NULL,
    delivered integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    unregistered integer DEFAULT 0 NOT NULL,
    expired integer DEFAULT 0 NOT NULL,
    cancelled integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    in_doubt integer DEFAULT 0 NOT NULL,
    settled integer GENERATED ALWAYS AS ((((((((moved + delivered) + failed) + unregistered) + expired) + cancelled) + skipped) + in_doubt)) STORED,
    marked bit varying NOT NULL,
    doubtful bit varying,
    variant smallint,
    CONSTRAINT batch_announced CHECK ((((announced >= 0) AND (announced <= size)) AND ((state = ANY (ARRAY[1, 2])) OR (announced = 0)))),
    CONSTRAINT batch_born_done CHECK (((bucket_id IS NOT NULL) OR (state = 2))),
    CONSTRAINT batch_done_when_all CHECK (((state = 2) = ((((((((moved + delivered) + failed) + unregistered) + expired) + cancelled) + skipped) + in_doubt) = size))),
    CONSTRAINT batch_marks_counted CHECK ((bit_count((marked)::"bit") = (((((((moved + delivered) + failed) + unregistered) + expired) + cancelled) + skipped) + in_doubt))),
    CONSTRAINT batch_marks_length CHECK (((length((marked)::"bit") = size) AND ((doubtful IS NULL) OR (length((doubtful)::"bit") = size)))),
    CONSTRAINT batch_size CHECK ((size > 0)),
    CONSTRAINT batch_state CHECK (((state = ANY (ARRAY[0, 1, 2, 5])) AND ((state <> 1) OR (holder IS NOT NULL))))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

COMMENT ON COLUMN pushfleet.batch.route_id IS '0: its jobs were skipped for want of one';

COMMENT ON COLUMN pushfleet.batch.tag IS 'Place in its pair''s order, in thousandths of a job divided by the run''s weight.';

COMMENT ON COLUMN pushfleet.batch.holder IS 'The worker process, random at each start; stays when the batch is done.';

COMMENT ON COLUMN pushfleet.batch.content_version IS 'Bound at the first claim.';

COMMENT ON COLUMN pushfleet.batch.bucket_id IS 'NULL: born done, with deliveries and no jobs';

COMMENT ON COLUMN pushfleet.batch.epoch IS 'With holder, the fence: raised by each claim.';

COMMENT ON COLUMN pushfleet.batch.claim_no IS 'The holder''s own number of the claim that took it.';

COMMENT ON COLUMN pushfleet.batch.collected IS 'Rows of notification that it was made from.';

COMMENT ON COLUMN pushfleet.batch.state IS '0 ready, 1 leased, 2 done, 5 scheduled';

COMMENT ON COLUMN pushfleet.batch.origin IS '0 from expansion or collect, 1 from retry or evacuation';

COMMENT ON COLUMN pushfleet.batch.lapses IS 'Times rescued: from 2 on it is suspect and sent one ordinal at a time.';

COMMENT ON COLUMN pushfleet.batch.announced IS 'Ordinals below may have been begun under this epoch.';

COMMENT ON COLUMN pushfleet.batch.may_repeat IS 'Jobs that went on although they may have left: repeat_bound.';

COMMENT ON COLUMN pushfleet.batch.moved IS 'Jobs that left for retry, or for another batch by evacuation.';

COMMENT ON COLUMN pushfleet.batch.marked IS 'A bit for each ordinal: it left this batch, by an outcome or to retry.';

COMMENT ON COLUMN pushfleet.batch.doubtful IS 'A bit for each ordinal: it may have left under an earlier epoch or attempt; NULL = none';

COMMENT ON COLUMN pushfleet.batch.variant IS 'Of all its jobs; NULL = no test.';

CREATE TABLE pushfleet.notification (
    shard smallint NOT NULL,
    id bigint NOT NULL,
    run_id bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    content_version bigint NOT NULL,
    due_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

COMMENT ON COLUMN pushfleet.notification.run_id IS 'The standing run of app and day.';

CREATE TABLE pushfleet.run (
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    campaign_id bigint,
    occurrence_at timestamp with time zone,
    status smallint DEFAULT 1 NOT NULL,
    lane smallint DEFAULT 1 NOT NULL,
    standing boolean DEFAULT false NOT NULL,
    weight integer DEFAULT 8 NOT NULL,
    in_doubt smallint DEFAULT 0 NOT NULL,
    batch_size smallint DEFAULT 500 NOT NULL,
    announce_window smallint DEFAULT 5000 NOT NULL,
    max_attempts smallint DEFAULT 8 NOT NULL,
    rate integer,
    content_version bigint DEFAULT 1 NOT NULL,
    due_at timestamp with time zone DEFAULT now() NOT NULL,
    local_at timestamp without time zone,
    expand_at timestamp with time zone DEFAULT now() NOT NULL,
    ttl interval DEFAULT '28 days'::interval NOT NULL,
    audience_as_of timestamp with time zone DEFAULT now() NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    closed_at timestamp with time zone,
    retry_horizon interval DEFAULT '01:00:00'::interval NOT NULL,
    paused_at timestamp with time zone,
    paused_reason smallint,
    paused_detail text,
    audience jsonb DEFAULT '{"all": true}'::jsonb NOT NULL,
    missing_zone smallint DEFAULT 0 NOT NULL,
    past_local smallint DEFAULT 0 NOT NULL,
    zone_rules text,
    is_test boolean DEFAULT false NOT NULL,
    plan jsonb,
    variant_bounds double precision[],
    variant_versions bigint[],
    one_per_user boolean DEFAULT false NOT NULL,
    exempt smallint DEFAULT 0 NOT NULL,
    quiet_policy smallint,
    CONSTRAINT run_announce_window CHECK ((announce_window > 0)),
    CONSTRAINT run_batch_size CHECK (((batch_size >= 1) AND (batch_size <= 5000))),
    CONSTRAINT run_exempt CHECK (((exempt >= 0) AND (exempt <= 3))),
    CONSTRAINT run_in_doubt CHECK ((in_doubt = ANY (ARRAY[0, 1]))),
    CONSTRAINT run_lane CHECK ((lane = ANY (ARRAY[0, 1]))),
    CONSTRAINT run_missing_zone CHECK ((missing_zone = ANY (ARRAY[0, 1]))),
    CONSTRAINT run_past_local CHECK ((past_local = ANY (ARRAY[0, 1, 2]))),
    CONSTRAINT run_quiet_policy CHECK ((quiet_policy = ANY (ARRAY[0, 1]))),
    CONSTRAINT run_rate CHECK ((rate > 0)),
    CONSTRAINT run_retry_horizon CHECK ((retry_horizon > '00:00:00'::interval)),
    CONSTRAINT run_status CHECK ((status = ANY (ARRAY[1, 2, 3, 4]))),
    CONSTRAINT run_ttl CHECK ((ttl <= '28 days'::interval)),
    CONSTRAINT run_weight CHECK (((weight >= 1) AND (weight <= 1000)))
);

COMMENT ON COLUMN pushfleet.run.status IS '1 running, 2 paused, 3 cancelled, 4 done';

COMMENT ON COLUMN pushfleet.run.lane IS '0 transactional, 1 campaign';

COMMENT ON COLUMN pushfleet.run.standing IS 'The transactional lane''s run of an app and day: filled by collect.';

COMMENT ON COLUMN pushfleet.run.in_doubt IS '0 retry, 1 assume_sent';

COMMENT ON COLUMN pushfleet.run.announce_window IS 'Ordinals announced at a time: 100 under assume_sent.';

COMMENT ON COLUMN pushfleet.run.local_at IS 'Wall time in each subscriber''s zone; due_at is not used then.';

COMMENT ON COLUMN pushfleet.run.expand_at IS 'When its expansion may begin: before its earliest batch is due. infinity = when the run before it is over.';

COMMENT ON COLUMN pushfleet.run.audience_as_of IS 'Only who had registered by then is targeted.';

COMMENT ON COLUMN pushfleet.run.retry_horizon IS 'No attempt later than this after a job''s first.';

COMMENT ON COLUMN pushfleet.run.paused_reason IS 'Why it paused itself (pushfleet.reason); NULL = somebody paused it.';

COMMENT ON COLUMN pushfleet.run.paused_detail IS 'The same in a sentence, with figures. No address, no content.';

COMMENT ON COLUMN pushfleet.run.audience IS 'Checked, with segments written out as they were when the run was made. A page compares it with what it compiled.';

COMMENT ON COLUMN pushfleet.run.missing_zone IS 'A subscriber without a valid zone: 0 the app''s zone, 1 skip';

COMMENT ON COLUMN pushfleet.run.past_local IS 'A zone whose hour had passed at expand_at: 0 send now, 1 skip, 2 next day';

COMMENT ON COLUMN pushfleet.run.zone_rules IS 'Fingerprint of every zone''s instant when the run was made: differs where the zone data changed since.';

COMMENT ON COLUMN pushfleet.run.is_test IS 'Sent to named subscribers for a look: left out of reports.';

COMMENT ON COLUMN pushfleet.run.plan IS 'What was expected when the run was made; reports set the result beside it.';

COMMENT ON COLUMN pushfleet.run.variant_bounds IS 'Who gets which variant: the place of the hash of campaign and user, in 0..1, among these bounds. Below the first: held out. NULL = no test.';

COMMENT ON COLUMN pushfleet.run.variant_versions IS 'What each variant says, by its place; in place of content_version.';

COMMENT ON COLUMN pushfleet.run.one_per_user IS 'Of a user''s devices in the audience that can be sent to, the one that registered last.';

COMMENT ON COLUMN pushfleet.run.exempt IS 'Bits: 1 no frequency cap holds, 2 no quiet hours do: it bypasses them, is a test, shows nothing, or goes to a topic. Of a standing run each message says so itself.';

COMMENT ON COLUMN pushfleet.run.quiet_policy IS 'As app.quiet_policy, for this run; NULL = as the app says.';

CREATE TABLE pushfleet.run_progress (
    shard smallint NOT NULL,
    run_id bigint NOT NULL,
    last_subscriber_id bigint DEFAULT 0 NOT NULL,
    targeted bigint DEFAULT 0 NOT NULL,
    expanded boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');

COMMENT ON COLUMN pushfleet.run_progress.targeted IS 'Counted from each page''s selection, never from what it inserted.';

CREATE VIEW pushfleet.accounting_shard AS
 SELECT progress.shard,
    progress.run_id,
    ((progress.targeted + tally.collected) + queue.waiting) AS targeted,
    (tally.expanded + queue.waiting) AS expanded,
    (tally.pending + queue.waiting) AS pending,
    tally.leased,
    (tally.moved - tally.returned) AS retrying,
    tally.delivered,
    tally.failed,
    tally.unregistered,
    tally.expired,
    tally.cancelled,
    tally.skipped,
    tally.in_doubt,
    tally.repeat_bound
   FROM (((pushfleet.run
     JOIN pushfleet.run_progress progress ON ((progress.run_id = run.id)))
     CROSS JOIN LATERAL ( SELECT COALESCE(sum(b.size) FILTER (WHERE (b.origin = 0)), (0)::bigint) AS expanded,
            COALESCE(sum(b.collected), (0)::bigint) AS collected,
            COALESCE(sum(b.size) FILTER (WHERE (b.origin = 1)), (0)::bigint) AS returned,
            COALESCE(sum(b.moved), (0)::bigint) AS moved,
            COALESCE(sum((b.size - b.settled)) FILTER (WHERE (b.state = ANY (ARRAY[0, 5]))), (0)::bigint) AS pending,
            COALESCE(sum((b.size - b.settled)) FILTER (WHERE (b.state = 1)), (0)::bigint) AS leased,
            COALESCE(sum(b.delivered), (0)::bigint) AS delivered,
            COALESCE(sum(b.failed), (0)::bigint) AS failed,
            COALESCE(sum(b.unregistered), (0)::bigint) AS unregistered,
            COALESCE(sum(b.expired), (0)::bigint) AS expired,
            COALESCE(sum(b.cancelled), (0)::bigint) AS cancelled,
            COALESCE(sum(b.skipped), (0)::bigint) AS skipped,
            COALESCE(sum(b.in_doubt), (0)::bigint) AS in_doubt,
            COALESCE(sum(b.may_repeat), (0)::bigint) AS repeat_bound
           FROM pushfleet.batch b
          WHERE ((b.shard = progress.shard) AND (b.run_id = progress.run_id))) tally)
     CROSS JOIN LATERAL ( SELECT count(*) AS waiting
           FROM pushfleet.notification n
          WHERE ((n.shard = progress.shard) AND (n.run_id = progress.run_id))) queue)
  WHERE (run.closed_at IS NULL);

COMMENT ON VIEW pushfleet.accounting_shard IS 'Where the jobs of each open run are, by shard, counted from batches.';

CREATE VIEW pushfleet.accounting AS
 SELECT accounting_shard.run_id,
    sum(accounting_shard.targeted) AS targeted,
    sum(accounting_shard.pending) AS pending,
    sum(accounting_shard.leased) AS leased,
    sum(accounting_shard.retrying) AS retrying,
    sum(accounting_shard.delivered) AS delivered,
    sum(accounting_shard.failed) AS failed,
    sum(accounting_shard.unregistered) AS unregistered,
    sum(accounting_shard.expired) AS expired,
    sum(accounting_shard.cancelled) AS cancelled,
    sum(accounting_shard.skipped) AS skipped,
    sum(accounting_shard.in_doubt) AS in_doubt,
    sum(accounting_shard.repeat_bound) AS repeat_bound
   FROM pushfleet.accounting_shard
  GROUP BY accounting_shard.run_id;

COMMENT ON VIEW pushfleet.accounting IS 'Where the jobs of each open run are: targeted = pending + leased + retrying + the seven outcomes.';

CREATE TABLE pushfleet.retry (
    shard smallint NOT NULL,
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    route_id bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    content_version bigint NOT NULL,
    attempts smallint NOT NULL,
    doubtful boolean NOT NULL,
    first_attempt_at timestamp with time zone
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

CREATE VIEW pushfleet.accounting_violation AS
 WITH queue AS MATERIALIZED (
         SELECT retry.shard,
            retry.run_id,
            count(*) AS waiting
           FROM pushfleet.retry
          GROUP BY retry.shard, retry.run_id
        )
 SELECT a.shard,
    a.run_id,
    a.targeted,
    a.expanded,
    a.pending,
    a.leased,
    a.retrying,
    a.delivered,
    a.failed,
    a.unregistered,
    a.expired,
    a.cancelled,
    a.skipped,
    a.in_doubt,
    a.repeat_bound,
    COALESCE(queue.waiting, (0)::bigint) AS retry_rows
   FROM (pushfleet.accounting_shard a
     LEFT JOIN queue ON (((queue.shard = a.shard) AND (queue.run_id = a.run_id))))
  WHERE ((a.targeted <> (((((((((a.pending + a.leased) + a.retrying) + a.delivered) + a.failed) + a.unregistered) + a.expired) + a.cancelled) + a.skipped) + a.in_doubt)) OR (a.targeted <> a.expanded) OR (a.retrying <> COALESCE(queue.waiting, (0)::bigint)));

COMMENT ON VIEW pushfleet.accounting_violation IS 'Always empty: a row is a defect.';

CREATE TABLE pushfleet.answer_minute (
    credential_id bigint NOT NULL,
    at_minute timestamp with time zone NOT NULL,
    worker_id uuid NOT NULL,
    answers integer NOT NULL,
    gone integer NOT NULL,
    foreign_to_us integer NOT NULL
)
WITH (fillfactor='50');

COMMENT ON COLUMN pushfleet.answer_minute.gone IS 'Answers that called the address dead.';

COMMENT ON COLUMN pushfleet.answer_minute.foreign_to_us IS 'Answers that called it another project''s or key''s.';

CREATE TABLE pushfleet.app (
    id bigint NOT NULL,
    name text NOT NULL,
    shards smallint[] DEFAULT '{0}'::smallint[] NOT NULL,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    rate integer,
    paused_at timestamp with time zone,
    fcm_mode smallint DEFAULT 0 NOT NULL,
    cap_most integer,
    cap_window interval,
    quiet_from time without time zone,
    quiet_until time without time zone,
    quiet_policy smallint DEFAULT 0 NOT NULL,
    CONSTRAINT app_cap CHECK ((((cap_most IS NULL) = (cap_window IS NULL)) AND ((cap_most >= 1) AND (cap_most <= 1000)) AND ((cap_window >= '00:01:00'::interval) AND (cap_window <= '31 days'::interval)))),
    CONSTRAINT app_fcm_mode CHECK ((fcm_mode = ANY (ARRAY[0, 1]))),
    CONSTRAINT app_has_shards CHECK ((cardinality(shards) > 0)),
    CONSTRAINT app_quiet_hours CHECK ((((quiet_from IS NULL) = (quiet_until IS NULL)) AND (quiet_from <> quiet_until))),
    CONSTRAINT app_quiet_policy CHECK ((quiet_policy = ANY (ARRAY[0, 1]))),
    CONSTRAINT app_rate CHECK ((rate > 0))
);

COMMENT ON COLUMN pushfleet.app.shards IS 'Subscribers are spread over these by hash of app and external id.';

COMMENT ON COLUMN pushfleet.app.time_zone IS 'IANA zone for subscribers without one.';

COMMENT ON COLUMN pushfleet.app.rate IS 'Requests a second through all of its routes together; NULL = no limit.';

COMMENT ON COLUMN pushfleet.app.paused_at IS 'Nothing of the app is claimed or begun while this is set.';

COMMENT ON COLUMN pushfleet.app.fcm_mode IS '0 data messages, drawn by the SDK in the app; 1 notification messages, drawn by FCM';

COMMENT ON COLUMN pushfleet.app.cap_most IS 'No user gets more than this many within cap_window, across campaigns and devices. NULL = no cap.';

COMMENT ON COLUMN pushfleet.app.quiet_from IS 'From this wall time in the subscriber''s zone until quiet_until nothing is sent; over midnight if that is earlier.';

COMMENT ON COLUMN pushfleet.app.quiet_policy IS 'What would come in quiet hours: 0 defer to their end, 1 skip';

CREATE TABLE pushfleet.app_caller (
    app_id bigint NOT NULL,
    caller name NOT NULL
);

ALTER TABLE pushfleet.app ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.app_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.attempt (
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    answer_ms integer,
    shard smallint NOT NULL,
    attempts smallint NOT NULL,
    status smallint,
    reason smallint NOT NULL,
    doubtful boolean NOT NULL
)
PARTITION BY RANGE (at);

ALTER TABLE pushfleet.batch ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pushfleet.batch_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.bucket (
    id integer NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL,
    sealed_at timestamp with time zone
);

ALTER TABLE pushfleet.bucket ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.bucket_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.bypass (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    app_id bigint NOT NULL,
    campaign_id bigint,
    run_id bigint,
    content_version bigint NOT NULL,
    rules smallint NOT NULL,
    reason text NOT NULL,
    caller name DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT bypass_rules CHECK (((rules >= 1) AND (rules <= 3)))
);

COMMENT ON TABLE pushfleet.bypass IS 'A row for each content version, caller and reason. Single notifications that say the same on one day share one.';

COMMENT ON COLUMN pushfleet.bypass.run_id IS 'The standing run of single notifications; NULL = a campaign''s.';

COMMENT ON COLUMN pushfleet.bypass.rules IS 'Bits: 1 frequency_cap, 2 quiet_hours';

ALTER TABLE pushfleet.bypass ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.bypass_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.campaign (
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    name text NOT NULL,
    idempotency_key text,
    body_hash bytea NOT NULL,
    body jsonb NOT NULL,
    state smallint DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    target_id bigint,
    next_at timestamp with time zone,
    problems jsonb,
    caller name DEFAULT SESSION_USER
);

COMMENT ON COLUMN pushfleet.campaign.body_hash IS 'SHA-256 of the body: the same key with another body is refused.';

COMMENT ON COLUMN pushfleet.campaign.state IS '0 waits to be checked, 1 active, 2 refused, 3 over';

COMMENT ON COLUMN pushfleet.campaign.target_id IS 'The one row of subscriber that stands for the topic or condition. It belongs to no app: its app_id is -target_id.';

COMMENT ON COLUMN pushfleet.campaign.next_at IS 'Recurring campaigns: the occurrence that has no run yet. NULL = none.';

COMMENT ON COLUMN pushfleet.campaign.problems IS 'Why it was refused: pointer, code and message of everything wrong.';

COMMENT ON COLUMN pushfleet.campaign.caller IS 'The role that made it; NULL = made before this was kept.';

ALTER TABLE pushfleet.campaign ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.campaign_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.channel (
    app_id bigint NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    importance text NOT NULL,
    description text,
    sound text,
    vibration boolean,
    lights boolean,
    badge boolean,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT channel_importance CHECK ((importance = ANY (ARRAY['none'::text, 'min'::text, 'low'::text, 'default'::text, 'high'::text])))
);

COMMENT ON TABLE pushfleet.channel IS 'Android channels: a push that names one describes it, so that the app can create it on the device.';

CREATE TABLE pushfleet.content_version (
    id bigint NOT NULL,
    campaign_id bigint,
    message jsonb NOT NULL,
    delivery jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    app_id bigint,
    channel jsonb,
    template_id bigint,
    revision integer DEFAULT 1 NOT NULL,
    variant smallint,
    variant_name text,
    standing_run bigint,
    digest bytea
);

COMMENT ON COLUMN pushfleet.content_version.channel IS 'The app''s definition of the Android channel that the message names, as it was then.';

COMMENT ON COLUMN pushfleet.content_version.template_id IS 'Where the message was taken from.';

COMMENT ON COLUMN pushfleet.content_version.revision IS 'Counts the edits of a campaign, from 1.';

COMMENT ON COLUMN pushfleet.content_version.variant IS 'Place among the campaign''s variants, from 1; NULL = no test.';

COMMENT ON COLUMN pushfleet.content_version.standing_run IS 'Set when single notifications brought it.';

COMMENT ON COLUMN pushfleet.content_version.digest IS 'SHA-256 of message and delivery. Not unique: a caller never waits for another one''s transaction over it.';

ALTER TABLE pushfleet.content_version ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.content_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.credential (
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    name text NOT NULL,
    transport smallint NOT NULL,
    file text NOT NULL,
    endpoint text,
    facts jsonb DEFAULT '{}'::jsonb NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    state_reason smallint DEFAULT 0 NOT NULL,
    state_since timestamp with time zone DEFAULT now() NOT NULL,
    last_success_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    fault_fingerprint bytea,
    state_detail text,
    wave_share real DEFAULT 0.2 NOT NULL,
    wave_least integer DEFAULT 20 NOT NULL,
    CONSTRAINT credential_state CHECK ((state = ANY (ARRAY[0, 1]))),
    CONSTRAINT credential_transport CHECK ((transport = ANY (ARRAY[1, 2, 3]))),
    CONSTRAINT credential_wave CHECK (((wave_share > (0)::double precision) AND (wave_share <= (1)::double precision) AND (wave_least > 0)))
);

COMMENT ON COLUMN pushfleet.credential.transport IS '1 apns, 2 fcm, 3 webpush';

COMMENT ON COLUMN pushfleet.credential.file IS 'Where the secret lies on every worker''s machine; never the secret.';

COMMENT ON COLUMN pushfleet.credential.endpoint IS 'An origin in place of the provider''s own.';

COMMENT ON COLUMN pushfleet.credential.facts IS 'What may be known of it: project, client address, key id.';

COMMENT ON COLUMN pushfleet.credential.state IS '0 ok, 1 paused';

COMMENT ON COLUMN pushfleet.credential.last_success_at IS 'The last that answer_minute held when it was cleared; the view pushfleet_report.credentials knows the newest.';

COMMENT ON COLUMN pushfleet.credential.revision IS 'Raised when it opens again: workers then read its file anew.';

COMMENT ON COLUMN pushfleet.credential.fault_fingerprint IS 'Half a SHA-256 of the file that proved useless; stays until another one works or an operator resumes.';

COMMENT ON COLUMN pushfleet.credential.state_detail IS 'What is wrong with it, for people; never a secret.';

COMMENT ON COLUMN pushfleet.credential.wave_share IS 'From this share of the answers of one or five minutes on, those against addresses are a wave.';

COMMENT ON COLUMN pushfleet.credential.wave_least IS 'Fewer answers against addresses are no wave, whatever their share.';

ALTER TABLE pushfleet.credential ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.credential_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.delivery (
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    sent_at timestamp with time zone,
    content_version bigint,
    address_version integer,
    answer_ms integer,
    shard smallint NOT NULL,
    ordinal smallint NOT NULL,
    outcome smallint NOT NULL,
    attempts smallint NOT NULL,
    status smallint,
    reason smallint DEFAULT 0 NOT NULL,
    variant smallint,
    provider_id text,
    language text,
    asked text,
    CONSTRAINT delivery_outcome CHECK (((outcome >= 1) AND (outcome <= 7)))
)
PARTITION BY RANGE (at);

COMMENT ON COLUMN pushfleet.delivery.sent_at IS 'When its last request began; NULL = none did, or it is not known';

COMMENT ON COLUMN pushfleet.delivery.answer_ms IS 'From the begin of the request to the answer.';

COMMENT ON COLUMN pushfleet.delivery.outcome IS '1 delivered (the provider accepted it), 2 failed, 3 unregistered, 4 expired, 5 cancelled, 6 skipped, 7 in_doubt';

COMMENT ON COLUMN pushfleet.delivery.status IS 'The provider''s; NULL = no answer';

COMMENT ON COLUMN pushfleet.delivery.reason IS 'See pushfleet.reason.';

COMMENT ON COLUMN pushfleet.delivery.language IS 'The language served, as the author spelled it.';

COMMENT ON COLUMN pushfleet.delivery.asked IS 'The language asked for, as the subscriber has it; NULL = it has none, or no worker read it.';

CREATE TABLE pushfleet.duty (
    name text NOT NULL,
    slot smallint NOT NULL,
    holder uuid,
    held_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
)
WITH (fillfactor='20');

CREATE TABLE pushfleet.event_first (
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    kind smallint NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE pushfleet.event_seen (
    app_id bigint NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.05');

CREATE TABLE pushfleet.event_tally (
    hour timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    events bigint NOT NULL,
    notifications bigint NOT NULL,
    kind smallint NOT NULL,
    slot smallint NOT NULL,
    CONSTRAINT event_tally_kind CHECK (((kind >= 1) AND (kind <= 5)))
)
WITH (fillfactor='50');

COMMENT ON COLUMN pushfleet.event_tally.hour IS 'When it happened, as the device says.';

COMMENT ON COLUMN pushfleet.event_tally.notifications IS 'Without further events of one kind on one notification.';

COMMENT ON COLUMN pushfleet.event_tally.kind IS '1 delivered on the device, 2 shown, 3 opened, 4 action, 5 dismissed';

CREATE TABLE pushfleet.frequency (
    app_id bigint NOT NULL,
    user_key text NOT NULL COLLATE pg_catalog."C",
    hits bigint[] NOT NULL,
    hit_at timestamp with time zone[] NOT NULL,
    CONSTRAINT frequency_pairs CHECK ((cardinality(hits) = cardinality(hit_at)))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

COMMENT ON TABLE pushfleet.frequency IS 'What was reserved for each user under a cap. Its rows are locked in the order of the key, in a statement that locks nothing else.';

COMMENT ON COLUMN pushfleet.frequency.user_key IS 'u: and the user_id, or s: and the id of a subscriber without one.';

COMMENT ON COLUMN pushfleet.frequency.hits IS 'The run; of a single notification its id, negative. One for all of the user''s devices and all attempts.';

COMMENT ON COLUMN pushfleet.frequency.hit_at IS 'When each of hits was reserved last. -infinity = it was refused when the row was made.';

CREATE TABLE pushfleet.idempotency_key (
    app_id bigint NOT NULL,
    key_hash bytea NOT NULL,
    body_hash bytea NOT NULL,
    notification_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE pushfleet.idempotency_key IS 'Kept for seven days. A second caller waits for the first one''s transaction.';

CREATE TABLE pushfleet.intake_key (
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    hash bytea NOT NULL,
    label text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    revoked_at timestamp with time zone,
    CONSTRAINT intake_key_hash CHECK ((octet_length(hash) = 32))
);

COMMENT ON COLUMN pushfleet.intake_key.hash IS 'SHA-256 of the key, which holds 256 random bits.';

COMMENT ON COLUMN pushfleet.intake_key.label IS 'The key''s first characters, to tell it from others.';

ALTER TABLE pushfleet.intake_key ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.intake_key_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.job (
    batch_id bigint NOT NULL,
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    bucket_id integer NOT NULL,
    shard smallint NOT NULL,
    ordinal smallint NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    content_version bigint,
    expires_at timestamp with time zone,
    first_attempt_at timestamp with time zone
)
PARTITION BY LIST (bucket_id);

COMMENT ON COLUMN pushfleet.job.number IS 'With the run, the job for life: the subscriber''s id, or the notification''s.';

COMMENT ON COLUMN pushfleet.job.attempts IS 'Made before it came into this batch.';

COMMENT ON COLUMN pushfleet.job.expires_at IS 'Collected jobs only: theirs differ within a batch.';

COMMENT ON COLUMN pushfleet.job.first_attempt_at IS 'NULL: none was charged before it came into this batch';

CREATE TABLE pushfleet.job_1 (
    batch_id bigint NOT NULL,
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    bucket_id integer NOT NULL,
    shard smallint NOT NULL,
    ordinal smallint NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    content_version bigint,
    expires_at timestamp with time zone,
    first_attempt_at timestamp with time zone
);

CREATE TABLE pushfleet.lane_clock (
    shard smallint NOT NULL,
    lane smallint NOT NULL,
    vtime bigint DEFAULT 0 NOT NULL,
    refreshed_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
)
WITH (fillfactor='20');

COMMENT ON COLUMN pushfleet.lane_clock.refreshed_at IS 'Heads are refreshed once a second, whoever asks.';

CREATE TABLE pushfleet.migration (
    number integer NOT NULL,
    name text NOT NULL,
    lowest_binary integer NOT NULL,
    text_hash text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE pushfleet.notification ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.notification_sibling (
    notification_id bigint NOT NULL,
    sibling_id bigint NOT NULL,
    run_id bigint NOT NULL
);

CREATE TABLE pushfleet.rate_second (
    key text NOT NULL,
    at_second timestamp with time zone NOT NULL,
    taken integer NOT NULL,
    granted integer NOT NULL,
    slices integer[] DEFAULT array_fill(0, ARRAY[20]) NOT NULL,
    campaign_slices integer[] DEFAULT array_fill(0, ARRAY[20]) NOT NULL
)
WITH (fillfactor='20');

COMMENT ON COLUMN pushfleet.rate_second.slices IS 'Slots taken of each slice; taken is their sum.';

COMMENT ON COLUMN pushfleet.rate_second.campaign_slices IS 'Those of them that campaigns took.';

CREATE TABLE pushfleet.reason (
    code smallint NOT NULL,
    name text NOT NULL
);

CREATE TABLE pushfleet.retention (
    what text NOT NULL,
    keep interval NOT NULL,
    CONSTRAINT retention_keep CHECK ((keep >= '1 day'::interval)),
    CONSTRAINT retention_what CHECK ((what = ANY (ARRAY['delivery'::text, 'attempt'::text, 'batch'::text, 'tally'::text, 'token_tally'::text])))
);

COMMENT ON TABLE pushfleet.retention IS 'How long each kind of row is kept; tallies outlive the rows that they count.';

CREATE TABLE pushfleet.route (
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    transport smallint NOT NULL,
    service smallint DEFAULT 0 NOT NULL,
    credential_id bigint NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    rate integer,
    slow_rate integer,
    slow_until timestamp with time zone,
    backoff interval DEFAULT '00:00:02'::interval NOT NULL,
    paused_reason smallint,
    paused_at timestamp with time zone,
    ramp interval DEFAULT '00:01:00'::interval NOT NULL,
    ramp_since timestamp with time zone,
    slowed_at timestamp with time zone,
    trips smallint DEFAULT 0 NOT NULL,
    reopen_at timestamp with time zone,
    CONSTRAINT route_rates CHECK (((rate > 0) AND (slow_rate > 0))),
    CONSTRAINT route_state CHECK ((state = ANY (ARRAY[0, 1, 2])))
);

COMMENT ON COLUMN pushfleet.route.service IS 'Web Push: 1 fcm, 2 mozilla, 3 apple, 4 wns, 5 other; else 0';

COMMENT ON COLUMN pushfleet.route.state IS '0 open, 1 paused (breaker, credential), 2 closed (removed)';

COMMENT ON COLUMN pushfleet.route.rate IS 'Requests a second for the whole fleet; NULL = no limit.';

COMMENT ON COLUMN pushfleet.route.slow_rate IS 'A 429 that one worker saw holds for all until slow_until.';

COMMENT ON COLUMN pushfleet.route.backoff IS 'Before the first retry: 10 s for FCM.';

COMMENT ON COLUMN pushfleet.route.ramp IS 'From its first request after a silence to its full rate, above 1,000 a second.';

COMMENT ON COLUMN pushfleet.route.slowed_at IS 'When its slow_rate was last lowered.';

COMMENT ON COLUMN pushfleet.route.trips IS 'Times in a row that its breaker opened; above 0 and open: it is on trial, at a trickle.';

COMMENT ON COLUMN pushfleet.route.reopen_at IS 'When an open breaker lets the next trial begin; NULL = no breaker.';

ALTER TABLE pushfleet.route ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.route_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE pushfleet.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.run_route (
    shard smallint NOT NULL,
    run_id bigint NOT NULL,
    route_id bigint NOT NULL,
    lane smallint NOT NULL,
    last_tag bigint DEFAULT 0 NOT NULL,
    low_tag bigint DEFAULT 0 NOT NULL,
    tag_offset bigint DEFAULT 0 NOT NULL,
    head bigint
)
WITH (fillfactor='50');

COMMENT ON COLUMN pushfleet.run_route.last_tag IS 'Highest tag given out.';

COMMENT ON COLUMN pushfleet.run_route.low_tag IS 'No ready batch lies below.';

COMMENT ON COLUMN pushfleet.run_route.tag_offset IS 'Set when the pair becomes active: it starts at the present.';

COMMENT ON COLUMN pushfleet.run_route.head IS 'tag_offset + first ready tag, some second old; NULL = nothing to claim';

CREATE TABLE pushfleet.run_total (
    run_id bigint NOT NULL,
    targeted bigint NOT NULL,
    delivered bigint NOT NULL,
    failed bigint NOT NULL,
    unregistered bigint NOT NULL,
    expired bigint NOT NULL,
    cancelled bigint NOT NULL,
    skipped bigint NOT NULL,
    in_doubt bigint NOT NULL,
    repeat_bound bigint NOT NULL,
    audited_at timestamp with time zone,
    audit_problems integer,
    CONSTRAINT run_total_adds_up CHECK ((targeted = ((((((delivered + failed) + unregistered) + expired) + cancelled) + skipped) + in_doubt)))
);

COMMENT ON COLUMN pushfleet.run_total.audit_problems IS 'Rows that audit() found when the run had been closed; 0 is the good answer.';

CREATE TABLE pushfleet.segment (
    app_id bigint NOT NULL,
    name text NOT NULL,
    audience jsonb NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);

COMMENT ON TABLE pushfleet.segment IS 'Audiences under a name. A run keeps what a segment was when the run was made.';

CREATE TABLE pushfleet.subscriber (
    shard smallint NOT NULL,
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    transport smallint NOT NULL,
    service smallint DEFAULT 0 NOT NULL,
    state smallint DEFAULT 1 NOT NULL,
    environment smallint DEFAULT 0 NOT NULL,
    evidence smallint,
    address_version integer DEFAULT 1 NOT NULL,
    registered_at timestamp with time zone DEFAULT now() NOT NULL,
    state_since timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone,
    external_id text,
    user_id text,
    address text NOT NULL,
    p256dh text,
    auth text,
    language text,
    time_zone text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    vapid_credential bigint,
    CONSTRAINT subscriber_attributes CHECK ((jsonb_typeof(attributes) = 'object'::text)),
    CONSTRAINT subscriber_state CHECK (((state >= 1) AND (state <= 5))),
    CONSTRAINT subscriber_transport CHECK ((transport = ANY (ARRAY[1, 2, 3])))
);

COMMENT ON COLUMN pushfleet.subscriber.state IS '1 active, 2 suspect, 3 unregistered, 4 wrong_project, 5 quarantined; 1 and 2 are sent to';

COMMENT ON COLUMN pushfleet.subscriber.environment IS 'APNs: 0 unknown, 1 production, 2 sandbox';

COMMENT ON COLUMN pushfleet.subscriber.evidence IS 'Reason code of the answer that moved its state.';

COMMENT ON COLUMN pushfleet.subscriber.address_version IS 'Raised when the address changes: retirement compares and sets on it.';

COMMENT ON COLUMN pushfleet.subscriber.vapid_credential IS 'Web Push: the credential whose key the browser subscribed with; NULL = the newest that the app has.';

ALTER TABLE pushfleet.subscriber ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME pushfleet.subscriber_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.tally (
    hour timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    route_id bigint NOT NULL,
    content_version bigint NOT NULL,
    n bigint NOT NULL,
    attempts bigint NOT NULL,
    outcome smallint NOT NULL,
    reason smallint NOT NULL,
    variant smallint NOT NULL,
    asked text NOT NULL,
    served text NOT NULL
)
WITH (fillfactor='80');

COMMENT ON COLUMN pushfleet.tally.route_id IS '0: skipped before a route was chosen';

COMMENT ON COLUMN pushfleet.tally.attempts IS 'Made by these jobs, all together.';

COMMENT ON COLUMN pushfleet.tally.asked IS 'The subscriber''s language as it was when counted: lower case, hyphens; "other" if it is no language tag';

COMMENT ON COLUMN pushfleet.tally.served IS 'The variant of the message that was sent, as its author spelled it.';

CREATE TABLE pushfleet.tally_day (
    day date NOT NULL,
    app_id bigint NOT NULL,
    n bigint NOT NULL,
    transport smallint NOT NULL,
    outcome smallint NOT NULL
)
WITH (fillfactor='50');

COMMENT ON TABLE pushfleet.tally_day IS 'By UTC day.';

CREATE TABLE pushfleet.tally_hour (
    hour timestamp with time zone NOT NULL,
    app_id bigint NOT NULL,
    n bigint NOT NULL,
    transport smallint NOT NULL,
    outcome smallint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE pushfleet.tally_latency (
    hour timestamp with time zone NOT NULL,
    run_id bigint NOT NULL,
    route_id bigint NOT NULL,
    n bigint NOT NULL,
    kind smallint NOT NULL,
    class smallint NOT NULL,
    CONSTRAINT tally_latency_kind CHECK ((kind = ANY (ARRAY[1, 2])))
)
WITH (fillfactor='80');

COMMENT ON COLUMN pushfleet.tally_latency.kind IS '1 from due to sent, 2 from sent to answered';

CREATE TABLE pushfleet.tally_mark (
    shard smallint NOT NULL,
    folded_until timestamp with time zone NOT NULL
)
WITH (fillfactor='20');

CREATE VIEW pushfleet.tally_violation AS
 SELECT total.run_id,
    total.targeted,
    COALESCE(counted.n, (0)::numeric) AS counted
   FROM ((pushfleet.run_total total
     JOIN pushfleet.run ON ((run.id = total.run_id)))
     CROSS JOIN LATERAL ( SELECT sum(t.n) AS n
           FROM pushfleet.tally t
          WHERE (t.run_id = total.run_id)) counted)
  WHERE ((run.closed_at < ( SELECT min(m.folded_until) AS min
           FROM pushfleet.tally_mark m)) AND (COALESCE(counted.n, (0)::numeric) <> (total.targeted)::numeric));

COMMENT ON VIEW pushfleet.tally_violation IS 'Always empty: a row is a run whose deliveries were miscounted.';

CREATE TABLE pushfleet.template (
    id bigint NOT NULL,
    app_id bigint NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    message jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT template_version CHECK ((version > 0))
);

ALTER TABLE pushfleet.template ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.template_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.time_zone (
    key text NOT NULL,
    name text NOT NULL
);

COMMENT ON TABLE pushfleet.time_zone IS 'Zones by lower-case name. A name that is not here, such as XYZ-9, is no zone.';

CREATE TABLE pushfleet.token_change (
    id bigint NOT NULL,
    shard smallint NOT NULL,
    subscriber_id bigint NOT NULL,
    app_id bigint NOT NULL,
    credential_id bigint NOT NULL,
    run_id bigint NOT NULL,
    address_version integer NOT NULL,
    evidence smallint NOT NULL,
    reason smallint NOT NULL,
    status smallint,
    gone_since timestamp with time zone,
    from_state smallint NOT NULL,
    to_state smallint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    verdict smallint NOT NULL,
    verdict_at timestamp with time zone,
    CONSTRAINT token_change_verdict CHECK (((verdict >= 0) AND (verdict <= 4)))
);

COMMENT ON COLUMN pushfleet.token_change.address_version IS 'Of the address that was used: compared before each move.';

COMMENT ON COLUMN pushfleet.token_change.evidence IS '1 gone, 2 foreign, 3 suspicious, 4 sound';

COMMENT ON COLUMN pushfleet.token_change.gone_since IS 'By the provider''s clock, else when the request began. Who registered then or later stayed.';

COMMENT ON COLUMN pushfleet.token_change.verdict IS '0 waits to be judged, 1 stands, 2 taken back, 3 void: the address moved on, 4 held: part of a wave';

ALTER TABLE pushfleet.token_change ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.token_change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.token_tally (
    counted_at timestamp with time zone NOT NULL,
    app_id bigint NOT NULL,
    transport smallint NOT NULL,
    state smallint NOT NULL,
    registered_month date NOT NULL,
    seen_days smallint NOT NULL,
    n bigint NOT NULL
);

COMMENT ON COLUMN pushfleet.token_tally.seen_days IS 'Upper bound of days since it was last seen: 1, 7, 30, 90, 270, 32767; -1 = never reported';

CREATE TABLE pushfleet.token_wave (
    id bigint NOT NULL,
    credential_id bigint NOT NULL,
    evidence smallint NOT NULL,
    from_at timestamp with time zone NOT NULL,
    to_at timestamp with time zone NOT NULL,
    answers bigint NOT NULL,
    against bigint NOT NULL,
    paused_runs bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL,
    decided_at timestamp with time zone,
    CONSTRAINT token_wave_evidence CHECK ((evidence = ANY (ARRAY[1, 2]))),
    CONSTRAINT token_wave_state CHECK ((state = ANY (ARRAY[0, 1, 2])))
);

COMMENT ON COLUMN pushfleet.token_wave.answers IS 'Of the worst minutes: all, and those against addresses.';

COMMENT ON COLUMN pushfleet.token_wave.paused_runs IS 'Each was paused once; who resumes it is obeyed.';

COMMENT ON COLUMN pushfleet.token_wave.state IS '0 open, 1 taken back, 2 accepted';

ALTER TABLE pushfleet.token_wave ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME pushfleet.token_wave_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE pushfleet.worker (
    id uuid NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    sighted_by uuid,
    sighted_first_at timestamp with time zone,
    sighted_last_at timestamp with time zone
)
WITH (fillfactor='20');

COMMENT ON COLUMN pushfleet.worker.sighted_by IS 'The janitor that saw it lapsed, without a gap, between the two instants.';

CREATE VIEW pushfleet_report.accounting AS
 SELECT accounting.run_id,
    accounting.targeted,
    accounting.pending,
    accounting.leased,
    accounting.retrying,
    accounting.delivered,
    accounting.failed,
    accounting.unregistered,
    accounting.expired,
    accounting.cancelled,
    accounting.skipped,
    accounting.in_doubt,
    accounting.repeat_bound
   FROM pushfleet.accounting;

COMMENT ON VIEW pushfleet_report.accounting IS 'Where the jobs of each open run are: targeted = the sum of the ten columns after it.';

CREATE VIEW pushfleet_report.accounting_violation AS
 SELECT accounting_violation.shard,
    accounting_violation.run_id,
    accounting_violation.targeted,
    accounting_violation.expanded,
    accounting_violation.pending,
    accounting_violation.leased,
    accounting_violation.retrying,
    accounting_violation.delivered,
    accounting_violation.failed,
    accounting_violation.unregistered,
    accounting_violation.expired,
    accounting_violation.cancelled,
    accounting_violation.skipped,
    accounting_violation.in_doubt,
    accounting_violation.repeat_bound,
    accounting_violation.retry_rows
   FROM pushfleet.accounting_violation;

COMMENT ON VIEW pushfleet_report.accounting_violation IS 'Always empty: a row is a defect.';

CREATE VIEW pushfleet_report.bypasses AS
 SELECT b.at,
    app.name AS app,
    b.campaign_id,
    COALESCE(campaign.name, 'single notifications'::text) AS name,
    array_remove(ARRAY[
        CASE
            WHEN (((b.rules)::integer & 1) > 0) THEN 'frequency_cap'::text
            ELSE NULL::text
        END,
        CASE
            WHEN (((b.rules)::integer & 2) > 0) THEN 'quiet_hours'::text
            ELSE NULL::text
        END], NULL::text) AS rules,
    b.reason,
    b.caller,
    b.content_version,
    ( SELECT (COALESCE(sum(t.n), (0)::numeric))::bigint AS "coalesce"
           FROM (pushfleet.run
             JOIN pushfleet.tally t ON (((t.run_id = run.id) AND (t.content_version = b.content_version))))
          WHERE ((run.id = b.run_id) OR (run.campaign_id = b.campaign_id))) AS jobs
   FROM ((pushfleet.bypass b
     JOIN pushfleet.app ON ((app.id = b.app_id)))
     LEFT JOIN pushfleet.campaign ON ((campaign.id = b.campaign_id)));

COMMENT ON VIEW pushfleet_report.bypasses IS 'Who sent past a frequency cap or quiet hours, why, and how many jobs so far. Callers who say the same share the jobs.';

CREATE VIEW pushfleet_report.campaigns AS
 SELECT campaign.id AS campaign_id,
    app.name AS app,
    campaign.name,
    campaign.created_at,
    (ARRAY['waiting'::text, 'active'::text, 'refused'::text, 'over'::text])[(campaign.state + 1)] AS state,
    runs.n AS runs,
    runs.first_due_at,
    runs.last_due_at,
    campaign.problems
   FROM ((pushfleet.campaign
     JOIN pushfleet.app ON ((app.id = campaign.app_id)))
     CROSS JOIN LATERAL ( SELECT count(*) AS n,
            min(run.due_at) AS first_due_at,
            max(run.due_at) AS last_due_at
           FROM pushfleet.run
          WHERE ((run.campaign_id = campaign.id) AND (NOT run.is_test))) runs);

COMMENT ON VIEW pushfleet_report.campaigns IS 'One row for each campaign; why, if it was refused.';

CREATE VIEW pushfleet_report.credentials AS
 SELECT app.name AS app,
    credential.name AS credential,
    pushfleet_report.transport_name(credential.transport) AS transport,
        CASE credential.state
            WHEN 0 THEN 'ok'::text
            ELSE 'paused'::text
        END AS state,
    reason.name AS reason,
    credential.state_since,
    GREATEST(credential.last_success_at, ( SELECT max(m.at_minute) AS max
           FROM pushfleet.answer_minute m
          WHERE ((m.credential_id = credential.id) AND (m.answers > (m.gone + m.foreign_to_us))))) AS last_success_at,
    token.expires_at AS token_expires_at
   FROM (((pushfleet.credential
     JOIN pushfleet.app ON ((app.id = credential.app_id)))
     JOIN pushfleet.reason ON ((reason.code = credential.state_reason)))
     LEFT JOIN pushfleet.access_token token ON ((token.credential_id = credential.id)));

COMMENT ON VIEW pushfleet_report.credentials IS 'Whether each credential works, and why not.';

CREATE VIEW pushfleet_report.daily AS
 SELECT t.day,
    app.name AS app,
    pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome,
    t.n AS jobs
   FROM (pushfleet.tally_day t
     JOIN pushfleet.app ON ((app.id = t.app_id)));

COMMENT ON VIEW pushfleet_report.daily IS 'Outcomes by UTC day.';

CREATE VIEW pushfleet_report.events AS
 SELECT run.id AS run_id,
    app.name AS app,
    COALESCE(campaign.name, 'single notifications'::text) AS name,
    accepted.n AS accepted,
    counted.delivered,
    counted.shown,
    counted.opened,
    counted.actions,
    counted.dismissed,
    round(((LEAST(counted.opened, accepted.n))::numeric / (NULLIF(accepted.n, 0))::numeric), 5) AS click_rate,
    round((pushfleet_report.wilson(LEAST(counted.opened, accepted.n), accepted.n, '-1'::integer))::numeric, 5) AS click_rate_low,
    round((pushfleet_report.wilson(LEAST(counted.opened, accepted.n), accepted.n, 1))::numeric, 5) AS click_rate_high
   FROM ((((( SELECT t.run_id,
            (COALESCE(sum(t.notifications) FILTER (WHERE (t.kind = 1)), (0)::numeric))::bigint AS delivered,
            (COALESCE(sum(t.notifications) FILTER (WHERE (t.kind = 2)), (0)::numeric))::bigint AS shown,
            (COALESCE(sum(t.notifications) FILTER (WHERE (t.kind = 3)), (0)::numeric))::bigint AS opened,
            (COALESCE(sum(t.notifications) FILTER (WHERE (t.kind = 4)), (0)::numeric))::bigint AS actions,
            (COALESCE(sum(t.notifications) FILTER (WHERE (t.kind = 5)), (0)::numeric))::bigint AS dismissed
           FROM pushfleet.event_tally t
          GROUP BY t.run_id) counted
     JOIN pushfleet.run ON (((run.id = counted.run_id) AND (NOT run.is_test))))
     JOIN pushfleet.app ON ((app.id = run.app_id)))
     LEFT JOIN pushfleet.campaign ON ((campaign.id = run.campaign_id)))
     CROSS JOIN LATERAL ( SELECT (COALESCE(sum(t.n), (0)::numeric))::bigint AS n
           FROM pushfleet.tally t
          WHERE ((t.run_id = run.id) AND (t.outcome = 1))) accepted);

COMMENT ON VIEW pushfleet_report.events IS 'What devices told of each run, and how many of the notifications that providers accepted were opened, with the 95 % interval.';

CREATE VIEW pushfleet_report.hourly AS
 SELECT t.hour,
    app.name AS app,
    pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.outcome_name(t.outcome) AS outcome,
    t.n AS jobs
   FROM (pushfleet.tally_hour t
     JOIN pushfleet.app ON ((app.id = t.app_id)));

COMMENT ON VIEW pushfleet_report.hourly IS 'Outcomes by the hour. Name an hour or a range of hours.';

CREATE VIEW pushfleet_report.latency AS
 SELECT run.id AS run_id,
    t.transport,
    t.kind,
    t.jobs,
    t.p50_ms,
    t.p90_ms,
    t.p95_ms,
    t.p99_ms
   FROM (pushfleet.run
     CROSS JOIN LATERAL ( SELECT classes.transport,
            classes.kind,
            (sum(classes.n))::bigint AS jobs,
            min(classes.bound) FILTER (WHERE (classes.below >= (0.5 * classes.whole))) AS p50_ms,
            min(classes.bound) FILTER (WHERE (classes.below >= (0.9 * classes.whole))) AS p90_ms,
            min(classes.bound) FILTER (WHERE (classes.below >= (0.95 * classes.whole))) AS p95_ms,
            min(classes.bound) FILTER (WHERE (classes.below >= (0.99 * classes.whole))) AS p99_ms
           FROM ( SELECT c.transport,
                    c.kind,
                    c.n,
                    round(((2)::numeric ^ ((c.class)::numeric / 4.0))) AS bound,
                    sum(c.n) OVER (PARTITION BY c.transport, c.kind ORDER BY c.class) AS below,
                    sum(c.n) OVER (PARTITION BY c.transport, c.kind) AS whole
                   FROM ( SELECT pushfleet_report.transport_name(route.transport) AS transport,
                                CASE l.kind
                                    WHEN 1 THEN 'due to sent'::text
                                    ELSE 'sent to answered'::text
                                END AS kind,
                            l.class,
                            sum(l.n) AS n
                           FROM (pushfleet.tally_latency l
                             LEFT JOIN pushfleet.route ON ((route.id = l.route_id)))
                          WHERE (l.run_id = run.id)
                          GROUP BY route.transport, l.kind, l.class) c) classes
          GROUP BY classes.transport, classes.kind) t)
  WHERE (NOT run.is_test);

COMMENT ON VIEW pushfleet_report.latency IS 'Percentiles of a run, in milliseconds, at most a fifth too high.';

CREATE VIEW pushfleet_report.newly_unregistered AS
 SELECT t.day,
    app.name AS app,
    pushfleet_report.transport_name(t.transport) AS transport,
    t.n AS jobs
   FROM (pushfleet.tally_day t
     JOIN pushfleet.app ON ((app.id = t.app_id)))
  WHERE (t.outcome = 3);

COMMENT ON VIEW pushfleet_report.newly_unregistered IS 'Jobs that a provider answered with a dead address, by UTC day: an address that was sent to twice counts twice.';

CREATE VIEW pushfleet_report.outcomes AS
 SELECT run.id AS run_id,
    pushfleet_report.transport_name(route.transport) AS transport,
        CASE route.transport
            WHEN 1 THEN 'ios'::text
            WHEN 2 THEN 'android'::text
            WHEN 3 THEN 'web'::text
            ELSE NULL::text
        END AS platform,
    t.asked AS language_asked,
    t.served AS language_served,
    t.variant,
    t.content_version,
    pushfleet_report.outcome_name(t.outcome) AS outcome,
    reason.name AS reason,
    t.jobs
   FROM (((pushfleet.run
     CROSS JOIN LATERAL ( SELECT c.route_id,
            c.asked,
            c.served,
            c.variant,
            c.content_version,
            c.outcome,
            c.reason,
            (sum(c.n))::bigint AS jobs
           FROM pushfleet.tally c
          WHERE (c.run_id = run.id)
          GROUP BY c.route_id, c.asked, c.served, c.variant, c.content_version, c.outcome, c.reason) t)
     JOIN pushfleet.reason ON ((reason.code = t.reason)))
     LEFT JOIN pushfleet.route ON ((route.id = t.route_id)))
  WHERE (NOT run.is_test);

COMMENT ON VIEW pushfleet_report.outcomes IS 'What became of a run''s jobs, by every dimension. Up to a minute behind while it runs.';

CREATE VIEW pushfleet_report.queue AS
 SELECT lane.name AS lane,
    ((COALESCE(open.jobs, (0)::bigint) + waiting.n) + waiting.later) AS jobs,
    (COALESCE(open.ready, (0)::bigint) + waiting.n) AS ready,
    COALESCE(open.leased, (0)::bigint) AS leased,
    (COALESCE(open.scheduled, (0)::bigint) + waiting.later) AS scheduled,
    COALESCE(retry.n, (0)::bigint) AS retrying,
    COALESCE(GREATEST((now() - LEAST(open.oldest_due_at, waiting.oldest_due_at)), '00:00:00'::interval), '00:00:00'::interval) AS oldest_due_age
   FROM (((( VALUES ((0)::smallint,'transactional'::text), ((1)::smallint,'campaign'::text)) lane(code, name)
     LEFT JOIN LATERAL ( SELECT sum((b.size - b.settled)) AS jobs,
            sum((b.size - b.settled)) FILTER (WHERE (b.state = 0)) AS ready,
            sum((b.size - b.settled)) FILTER (WHERE (b.state = 1)) AS leased,
            sum((b.size - b.settled)) FILTER (WHERE (b.state = 5)) AS scheduled,
            min(b.due_at) FILTER (WHERE ((b.state = ANY (ARRAY[0, 1])) AND (run.status = 1) AND (app.paused_at IS NULL) AND (COALESCE((route.state)::integer, 0) = 0))) AS oldest_due_at
           FROM (((pushfleet.batch b
             JOIN pushfleet.run ON (((run.id = b.run_id) AND (run.lane = lane.code))))
             JOIN pushfleet.app ON ((app.id = run.app_id)))
             LEFT JOIN pushfleet.route ON ((route.id = b.route_id)))
          WHERE (b.state = ANY (ARRAY[0, 1, 5]))) open ON (true))
     LEFT JOIN LATERAL ( SELECT count(*) AS n
           FROM (pushfleet.retry retry_1
             JOIN pushfleet.run ON (((run.id = retry_1.run_id) AND (run.lane = lane.code))))) retry ON (true))
     LEFT JOIN LATERAL ( SELECT count(*) FILTER (WHERE (n.due_at <= now())) AS n,
            count(*) FILTER (WHERE (n.due_at > now())) AS later,
            min(n.due_at) FILTER (WHERE ((n.due_at <= now()) AND (run.status = 1) AND (app.paused_at IS NULL))) AS oldest_due_at
           FROM ((pushfleet.notification n
             JOIN pushfleet.run ON ((run.id = n.run_id)))
             JOIN pushfleet.app ON ((app.id = run.app_id)))
          WHERE (lane.code = 0)) waiting ON (true));

COMMENT ON VIEW pushfleet_report.queue IS 'How much waits in each lane, and since when the oldest is due that nobody paused.';

CREATE VIEW pushfleet_report.retries AS
 SELECT run.id AS run_id,
    t.transport,
    t.jobs,
    t.attempts,
    t.retries,
    t.in_doubt
   FROM (pushfleet.run
     CROSS JOIN LATERAL ( SELECT pushfleet_report.transport_name(route.transport) AS transport,
            (sum(c.n))::bigint AS jobs,
            (sum(c.attempts))::bigint AS attempts,
            (GREATEST((0)::numeric, (sum(c.attempts) - sum(c.n) FILTER (WHERE (c.attempts > 0)))))::bigint AS retries,
            (COALESCE(sum(c.n) FILTER (WHERE (c.outcome = 7)), (0)::numeric))::bigint AS in_doubt
           FROM (pushfleet.tally c
             LEFT JOIN pushfleet.route ON ((route.id = c.route_id)))
          WHERE (c.run_id = run.id)
          GROUP BY route.transport) t)
  WHERE (NOT run.is_test);

COMMENT ON VIEW pushfleet_report.retries IS 'Attempts beyond the first, by run and transport. How many may have gone out twice: runs.repeat_bound.';

CREATE VIEW pushfleet_report.runs AS
 SELECT run.id AS run_id,
    run.campaign_id,
    app.name AS app,
    COALESCE(campaign.name, 'single notifications'::text) AS name,
    pushfleet_report.run_status_name(run.status) AS status,
    run.due_at,
    run.created_at,
    run.closed_at,
    counted.targeted,
    counted.pending,
    counted.leased,
    counted.retrying,
    counted.delivered,
    counted.failed,
    counted.unregistered,
    counted.expired,
    counted.cancelled,
    counted.skipped,
    counted.in_doubt,
    counted.repeat_bound,
    round(((100.0 * (((counted.targeted - counted.pending) - counted.leased) - counted.retrying)) / NULLIF(counted.targeted, (0)::numeric)), 1) AS percent_done,
    speed.per_second,
        CASE
            WHEN ((run.closed_at IS NULL) AND (speed.per_second > (0)::numeric)) THEN make_interval(secs => (round((((counted.pending + counted.leased) + counted.retrying) / speed.per_second)))::double precision)
            ELSE NULL::interval
        END AS time_left
   FROM ((((((pushfleet.run
     JOIN pushfleet.app ON ((app.id = run.app_id)))
     LEFT JOIN pushfleet.campaign ON ((campaign.id = run.campaign_id)))
     LEFT JOIN pushfleet.run_total t ON ((t.run_id = run.id)))
     LEFT JOIN pushfleet.accounting a ON (((a.run_id = run.id) AND (run.closed_at IS NULL))))
     CROSS JOIN LATERAL ( SELECT COALESCE((t.targeted)::numeric, a.targeted) AS targeted,
                CASE
                    WHEN (t.run_id IS NULL) THEN a.pending
                    ELSE (0)::numeric
                END AS pending,
                CASE
                    WHEN (t.run_id IS NULL) THEN a.leased
                    ELSE (0)::numeric
                END AS leased,
                CASE
                    WHEN (t.run_id IS NULL) THEN a.retrying
                    ELSE (0)::numeric
                END AS retrying,
            COALESCE((t.delivered)::numeric, a.delivered) AS delivered,
            COALESCE((t.failed)::numeric, a.failed) AS failed,
            COALESCE((t.unregistered)::numeric, a.unregistered) AS unregistered,
            COALESCE((t.expired)::numeric, a.expired) AS expired,
            COALESCE((t.cancelled)::numeric, a.cancelled) AS cancelled,
            COALESCE((t.skipped)::numeric, a.skipped) AS skipped,
            COALESCE((t.in_doubt)::numeric, a.in_doubt) AS in_doubt,
            COALESCE((t.repeat_bound)::numeric, a.repeat_bound) AS repeat_bound) counted)
     CROSS JOIN LATERAL ( SELECT round(((((counted.targeted - counted.pending) - counted.leased) - counted.retrying) / NULLIF(EXTRACT(epoch FROM (COALESCE(run.closed_at, now()) - GREATEST(run.due_at, run.created_at))), (0)::numeric)), 1) AS per_second) speed)
  WHERE ((NOT run.is_test) AND ((t.run_id IS NOT NULL) OR (a.run_id IS NOT NULL)));

COMMENT ON VIEW pushfleet_report.runs IS 'One row for each run: where its jobs are now, how fast it goes and how long it takes still. targeted is the sum of the ten columns after it.';

CREATE VIEW pushfleet_report.tokens AS
 SELECT app.name AS app,
    pushfleet_report.transport_name(t.transport) AS transport,
    pushfleet_report.token_state_name(t.state) AS state,
    t.registered_month,
    t.seen_days,
    t.counted_at,
    t.n AS subscribers
   FROM ((pushfleet.app
     CROSS JOIN LATERAL ( SELECT l.counted_at
           FROM pushfleet.token_tally l
          WHERE (l.app_id = app.id)
          ORDER BY l.counted_at DESC
         LIMIT 1) last)
     JOIN pushfleet.token_tally t ON (((t.app_id = app.id) AND (t.counted_at = last.counted_at))));

COMMENT ON VIEW pushfleet_report.tokens IS 'Addresses by state, month of registration and days since last seen, as of the last hourly count.';

CREATE VIEW pushfleet_report.workers AS
 SELECT "left"((worker.id)::text, 8) AS worker,
    worker.lease_until,
    (worker.lease_until > now()) AS is_alive,
    held.batches,
    held.jobs
   FROM (pushfleet.worker
     CROSS JOIN LATERAL ( SELECT count(*) AS batches,
            COALESCE(sum((b.size - b.settled)), (0)::bigint) AS jobs
           FROM pushfleet.batch b
          WHERE ((b.state = 1) AND (b.holder = worker.id) AND (b.shard IN ( SELECT unnest(app.shards) AS unnest
                   FROM pushfleet.app)))) held);

COMMENT ON VIEW pushfleet_report.workers IS 'Worker processes, their leases and what they hold.';

ALTER TABLE ONLY pushfleet.job ATTACH PARTITION pushfleet.job_1 FOR VALUES IN (1);

ALTER TABLE ONLY pushfleet.access_token
    ADD CONSTRAINT access_token_pkey PRIMARY KEY (credential_id);

ALTER TABLE ONLY pushfleet.answer_minute
    ADD CONSTRAINT answer_minute_pkey PRIMARY KEY (credential_id, at_minute, worker_id);

ALTER TABLE ONLY pushfleet.app_caller
    ADD CONSTRAINT app_caller_pkey PRIMARY KEY (app_id, caller);

ALTER TABLE ONLY pushfleet.app
    ADD CONSTRAINT app_name_key UNIQUE (name);

ALTER TABLE ONLY pushfleet.app
    ADD CONSTRAINT app_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.batch
    ADD CONSTRAINT batch_pkey PRIMARY KEY (shard, id);

ALTER TABLE ONLY pushfleet.bucket
    ADD CONSTRAINT bucket_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.bypass
    ADD CONSTRAINT bypass_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.campaign
    ADD CONSTRAINT campaign_app_id_idempotency_key_key UNIQUE (app_id, idempotency_key);

ALTER TABLE ONLY pushfleet.campaign
    ADD CONSTRAINT campaign_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.channel
    ADD CONSTRAINT channel_pkey PRIMARY KEY (app_id, id);

ALTER TABLE ONLY pushfleet.content_version
    ADD CONSTRAINT content_version_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.credential
    ADD CONSTRAINT credential_app_id_name_key UNIQUE (app_id, name);

ALTER TABLE ONLY pushfleet.credential
    ADD CONSTRAINT credential_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.duty
    ADD CONSTRAINT duty_pkey PRIMARY KEY (name, slot);

ALTER TABLE ONLY pushfleet.event_first
    ADD CONSTRAINT event_first_pkey PRIMARY KEY (run_id, number, kind);

ALTER TABLE ONLY pushfleet.event_seen
    ADD CONSTRAINT event_seen_pkey PRIMARY KEY (app_id, event_id);

ALTER TABLE ONLY pushfleet.event_tally
    ADD CONSTRAINT event_tally_pkey PRIMARY KEY (run_id, hour, kind, slot);

ALTER TABLE ONLY pushfleet.frequency
    ADD CONSTRAINT frequency_pkey PRIMARY KEY (app_id, user_key);

ALTER TABLE ONLY pushfleet.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (app_id, key_hash);

ALTER TABLE ONLY pushfleet.intake_key
    ADD CONSTRAINT intake_key_hash_key UNIQUE (hash);

ALTER TABLE ONLY pushfleet.intake_key
    ADD CONSTRAINT intake_key_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.lane_clock
    ADD CONSTRAINT lane_clock_pkey PRIMARY KEY (shard, lane);

ALTER TABLE ONLY pushfleet.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);

ALTER TABLE ONLY pushfleet.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (shard, id);

ALTER TABLE ONLY pushfleet.notification_sibling
    ADD CONSTRAINT notification_sibling_pkey PRIMARY KEY (notification_id, sibling_id);

ALTER TABLE ONLY pushfleet.rate_second
    ADD CONSTRAINT rate_second_pkey PRIMARY KEY (key, at_second);

ALTER TABLE ONLY pushfleet.reason
    ADD CONSTRAINT reason_name_key UNIQUE (name);

ALTER TABLE ONLY pushfleet.reason
    ADD CONSTRAINT reason_pkey PRIMARY KEY (code);

ALTER TABLE ONLY pushfleet.retention
    ADD CONSTRAINT retention_pkey PRIMARY KEY (what);

ALTER TABLE ONLY pushfleet.retry
    ADD CONSTRAINT retry_pkey PRIMARY KEY (shard, run_id, number);

ALTER TABLE ONLY pushfleet.route
    ADD CONSTRAINT route_app_id_transport_service_key UNIQUE (app_id, transport, service);

ALTER TABLE ONLY pushfleet.route
    ADD CONSTRAINT route_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.run
    ADD CONSTRAINT run_campaign_id_occurrence_at_key UNIQUE (campaign_id, occurrence_at);

ALTER TABLE ONLY pushfleet.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.run_progress
    ADD CONSTRAINT run_progress_pkey PRIMARY KEY (shard, run_id);

ALTER TABLE ONLY pushfleet.run_route
    ADD CONSTRAINT run_route_pkey PRIMARY KEY (shard, run_id, route_id);

ALTER TABLE ONLY pushfleet.run_total
    ADD CONSTRAINT run_total_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY pushfleet.segment
    ADD CONSTRAINT segment_pkey PRIMARY KEY (app_id, name);

ALTER TABLE pushfleet.subscriber
    ADD CONSTRAINT subscriber_is_no_topic CHECK (((app_id < 0) OR (transport <> 2) OR (("left"(address, 8) <> '/topics/'::text) AND ("left"(address, 10) <> 'condition:'::text)))) NOT VALID;

ALTER TABLE ONLY pushfleet.subscriber
    ADD CONSTRAINT subscriber_pkey PRIMARY KEY (shard, id);

ALTER TABLE ONLY pushfleet.tally_day
    ADD CONSTRAINT tally_day_pkey PRIMARY KEY (day, app_id, transport, outcome);

ALTER TABLE ONLY pushfleet.tally_hour
    ADD CONSTRAINT tally_hour_pkey PRIMARY KEY (hour, app_id, transport, outcome);

ALTER TABLE ONLY pushfleet.tally_latency
    ADD CONSTRAINT tally_latency_pkey PRIMARY KEY (run_id, hour, route_id, kind, class);

ALTER TABLE ONLY pushfleet.tally_mark
    ADD CONSTRAINT tally_mark_pkey PRIMARY KEY (shard);

ALTER TABLE ONLY pushfleet.tally
    ADD CONSTRAINT tally_pkey PRIMARY KEY (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served);

ALTER TABLE ONLY pushfleet.template
    ADD CONSTRAINT template_app_id_name_version_key UNIQUE (app_id, name, version);

ALTER TABLE ONLY pushfleet.template
    ADD CONSTRAINT template_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.time_zone
    ADD CONSTRAINT time_zone_pkey PRIMARY KEY (key);

ALTER TABLE ONLY pushfleet.token_change
    ADD CONSTRAINT token_change_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.token_tally
    ADD CONSTRAINT token_tally_pkey PRIMARY KEY (app_id, counted_at, transport, state, registered_month, seen_days);

ALTER TABLE ONLY pushfleet.token_wave
    ADD CONSTRAINT token_wave_pkey PRIMARY KEY (id);

ALTER TABLE ONLY pushfleet.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);

CREATE INDEX answer_minute_by_time ON pushfleet.answer_minute USING btree (at_minute);

CREATE INDEX batch_by_bucket ON pushfleet.batch USING btree (bucket_id) WHERE (state = ANY (ARRAY[0, 1, 5]));

CREATE INDEX batch_by_run ON pushfleet.batch USING btree (shard, run_id);

CREATE INDEX batch_claimable ON pushfleet.batch USING btree (((shard + 0)), ((run_id + 0)), ((route_id + 0)), tag) WHERE ((state + 0) = 0);

CREATE INDEX batch_expirable ON pushfleet.batch USING btree (((shard + 0)), expires_at) WHERE ((state - 0) = ANY (ARRAY[0, 5]));

CREATE INDEX batch_expiring ON pushfleet.batch USING btree (shard, expires_at) WHERE (state = ANY (ARRAY[0, 5]));

CREATE INDEX batch_held ON pushfleet.batch USING btree (shard, holder, claim_no) WHERE (state = 1);

CREATE INDEX batch_holding ON pushfleet.batch USING btree (((shard + 0)), holder, claim_no) WHERE ((state + 0) = 1);

CREATE INDEX batch_open ON pushfleet.batch USING btree (((run_id + 0)), ((shard + 0))) WHERE ((state * 1) <> 2);

CREATE INDEX batch_promotable ON pushfleet.batch USING btree (((shard + 0)), due_at) WHERE ((state + 0) = 5);

CREATE INDEX batch_ready ON pushfleet.batch USING btree (shard, run_id, route_id, tag) WHERE (state = 0);

CREATE INDEX batch_scheduled ON pushfleet.batch USING btree (shard, due_at) WHERE (state = 5);

CREATE INDEX bypass_by_age ON pushfleet.bypass USING btree (at);

CREATE INDEX bypass_by_version ON pushfleet.bypass USING btree (content_version);

CREATE INDEX campaign_next ON pushfleet.campaign USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (state = 1));

CREATE INDEX campaign_waiting ON pushfleet.campaign USING btree (id) WHERE (state = 0);

CREATE INDEX content_version_by_campaign ON pushfleet.content_version USING btree (campaign_id);

CREATE INDEX content_version_by_digest ON pushfleet.content_version USING btree (standing_run, digest) WHERE (standing_run IS NOT NULL);

CREATE INDEX event_first_received ON pushfleet.event_first USING brin (received_at) WITH (autosummarize='on');

CREATE INDEX event_seen_received ON pushfleet.event_seen USING brin (received_at) WITH (autosummarize='on');

CREATE INDEX event_tally_by_hour ON pushfleet.event_tally USING btree (hour);

CREATE INDEX idempotency_key_by_age ON pushfleet.idempotency_key USING btree (created_at);

CREATE INDEX intake_key_by_app ON pushfleet.intake_key USING btree (app_id);

CREATE INDEX job_1_batch ON pushfleet.job_1 USING btree (batch_id);

CREATE INDEX notification_by_run_due ON pushfleet.notification USING btree (shard, run_id, due_at, id);

CREATE INDEX notification_due ON pushfleet.notification USING btree (shard, due_at, id);

CREATE INDEX notification_sibling_by_run ON pushfleet.notification_sibling USING btree (run_id);

CREATE INDEX notification_sibling_by_sibling ON pushfleet.notification_sibling USING btree (sibling_id);

CREATE INDEX retry_by_pair ON pushfleet.retry USING btree (shard, run_id, route_id, due_at);

CREATE INDEX retry_expiring ON pushfleet.retry USING btree (shard, expires_at);

CREATE INDEX route_by_credential ON pushfleet.route USING btree (credential_id);

CREATE INDEX run_live ON pushfleet.run USING btree (id) WHERE (status = 1);

CREATE INDEX run_open ON pushfleet.run USING btree (status) WHERE (closed_at IS NULL);

CREATE INDEX run_progress_by_run ON pushfleet.run_progress USING btree (run_id);

CREATE INDEX run_progress_unexpanded ON pushfleet.run_progress USING btree (shard, run_id) WHERE (NOT expanded);

CREATE INDEX run_queued ON pushfleet.run USING btree (campaign_id) WHERE ((expand_at = 'infinity'::timestamp with time zone) AND (status = 1));

CREATE INDEX run_route_head ON pushfleet.run_route USING btree (shard, lane, head) WHERE (head IS NOT NULL);

CREATE UNIQUE INDEX run_standing ON pushfleet.run USING btree (app_id, occurrence_at, in_doubt) WHERE standing;

CREATE INDEX run_total_unaudited ON pushfleet.run_total USING btree (run_id) WHERE (audited_at IS NULL);

CREATE INDEX subscriber_by_app ON pushfleet.subscriber USING btree (shard, app_id, id);

CREATE INDEX subscriber_by_user ON pushfleet.subscriber USING btree (shard, app_id, user_id, registered_at, id) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX subscriber_external ON pushfleet.subscriber USING btree (shard, app_id, external_id);

CREATE INDEX tally_by_hour ON pushfleet.tally USING btree (hour);

CREATE INDEX tally_latency_by_hour ON pushfleet.tally_latency USING btree (hour);

CREATE INDEX token_change_by_credential ON pushfleet.token_change USING btree (credential_id, at);

CREATE INDEX token_change_by_subscriber ON pushfleet.token_change USING btree (shard, subscriber_id);

CREATE INDEX token_change_open ON pushfleet.token_change USING btree (at) WHERE (verdict = 0);

CREATE INDEX token_change_over ON pushfleet.token_change USING btree (verdict_at) WHERE (verdict = ANY (ARRAY[1, 2, 3]));

CREATE INDEX token_tally_hourly ON pushfleet.token_tally USING btree (counted_at) WHERE (EXTRACT(hour FROM (counted_at AT TIME ZONE 'UTC'::text)) <> (0)::numeric);

CREATE UNIQUE INDEX token_wave_open ON pushfleet.token_wave USING btree (credential_id, evidence) WHERE (state = 0);

CREATE TRIGGER campaign_has_target BEFORE INSERT ON pushfleet.campaign FOR EACH ROW EXECUTE FUNCTION pushfleet.make_campaign_target();

CREATE TRIGGER content_version_completes BEFORE INSERT ON pushfleet.content_version FOR EACH ROW EXECUTE FUNCTION pushfleet.complete_content_version();

CREATE TRIGGER tally_inserted AFTER INSERT ON pushfleet.tally REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION pushfleet.sum_tallies();

CREATE TRIGGER tally_updated AFTER UPDATE ON pushfleet.tally REFERENCING OLD TABLE AS stale NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION pushfleet.sum_tallies();

CREATE TRIGGER template_is_immutable BEFORE UPDATE ON pushfleet.template FOR EACH ROW EXECUTE FUNCTION pushfleet.refuse_template_change();

GRANT USAGE ON SCHEMA pushfleet TO pushfleet_worker;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_scheduler;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_janitor;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_caller;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_reporter;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_intake;

GRANT USAGE ON SCHEMA pushfleet_report TO pushfleet_janitor;
GRANT USAGE ON SCHEMA pushfleet_report TO pushfleet_reporter;

REVOKE ALL ON FUNCTION pushfleet.accept_tokens(app text, credential text, from_at timestamp with time zone, to_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.action_problems(value jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.add_sums(hours timestamp with time zone[], runs bigint[], routes bigint[], outcomes smallint[], counts bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.audit(which bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.audit_next() FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.audit_next() TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.base64_bytes(value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.campaign_problems(campaign jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.campaign_state(which bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.campaign_state(which bigint) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.cancel(which bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.cancel(which bigint) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.cancel_notification(which bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.cancel_notification(which bigint) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.check_message(message jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.check_message(message jsonb) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.check_options(options jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.check_recipient(recipient jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer) TO pushfleet_worker;

REVOKE ALL ON FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer, without bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer, without bigint[]) TO pushfleet_worker;

REVOKE ALL ON FUNCTION pushfleet.complete_content_version() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.content_problems(content jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.count_tokens() FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.count_tokens() TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.data_problems(data jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.drop_bucket(which integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.drop_bucket(which integer) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.due_notifications(in_shard smallint, at_most integer, without bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.due_notifications(in_shard smallint, at_most integer, without bigint[]) TO pushfleet_worker;

REVOKE ALL ON FUNCTION pushfleet.end_campaign(which bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.end_campaign(which bigint) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.ensure_day(parent text, day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.ensure_days(ahead integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.ensure_days(ahead integer) TO pushfleet_worker;
GRANT ALL ON FUNCTION pushfleet.ensure_days(ahead integer) TO pushfleet_scheduler;
GRANT ALL ON FUNCTION pushfleet.ensure_days(ahead integer) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.ensure_standing_runs() FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.ensure_standing_runs() TO pushfleet_worker;
GRANT ALL ON FUNCTION pushfleet.ensure_standing_runs() TO pushfleet_scheduler;
GRANT ALL ON FUNCTION pushfleet.ensure_standing_runs() TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.exempt_rules(message jsonb, delivery jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.exempt_rules(message jsonb, delivery jsonb) TO pushfleet_worker;
GRANT ALL ON FUNCTION pushfleet.exempt_rules(message jsonb, delivery jsonb) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.expired_days() FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.expired_days() TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.explain(app text, recipient jsonb, which_run bigint, since interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.explain(app text, recipient jsonb, which_run bigint, since interval) TO pushfleet_reporter;
GRANT ALL ON FUNCTION pushfleet.explain(app text, recipient jsonb, which_run bigint, since interval) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.fold(in_shard smallint, span interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.fold(in_shard smallint, span interval) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.forget_answers(older_than interval) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.forget_answers(older_than interval) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.forget_events(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.forget_events(at_most integer) TO pushfleet_intake;

REVOKE ALL ON FUNCTION pushfleet.forget_frequencies(after_app bigint, after_user text, at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.forget_frequencies(after_app bigint, after_user text, at_most integer) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.forget_notifications(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.forget_notifications(at_most integer) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.forget_old(at_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.forget_old(at_most integer) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.image_problems(value jsonb, at text, invalid text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.installation_problems(installation jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.instant_or_null(value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.intake_caller(in_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.intake_caller(in_hash bytea) TO pushfleet_intake;

REVOKE ALL ON FUNCTION pushfleet.intake_register(in_app bigint, in_external_id text, in_user_id text, in_transport smallint, in_address text, in_environment smallint, in_p256dh text, in_auth text, in_language text, in_time_zone text, in_attributes jsonb, in_tags text[], in_registered_at timestamp with time zone, in_vapid_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.intake_register(in_app bigint, in_external_id text, in_user_id text, in_transport smallint, in_address text, in_environment smallint, in_p256dh text, in_auth text, in_language text, in_time_zone text, in_attributes jsonb, in_tags text[], in_registered_at timestamp with time zone, in_vapid_key text) TO pushfleet_intake;

REVOKE ALL ON FUNCTION pushfleet.intake_unregister(in_app bigint, in_external_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.intake_unregister(in_app bigint, in_external_id text) TO pushfleet_intake;

REVOKE ALL ON FUNCTION pushfleet.is_blank(value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_bypass(bypass jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_header_value(name text, value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_image_link(link text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_instant(value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_override_value(value jsonb, kind jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_p256_point(key bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.is_too_long(value text, at_most integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.keep_message(which bigint, message jsonb, delivery jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.language_key(key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.language_label(language text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.latency_class(milliseconds double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.least_characters(value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.link_fault(link text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.link_problems(value jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.local_instant(wall timestamp without time zone, zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.local_instant(wall timestamp without time zone, zone text) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.local_time(instant timestamp with time zone, zone text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.local_time(instant timestamp with time zone, zone text) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.make_campaign_target() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.member_problems(value jsonb, at text, known text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.message_problems(message jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.named_text_problems(value jsonb, kind text, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.notify(app text, recipient jsonb, message jsonb, options jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.notify(app text, recipient jsonb, message jsonb, options jsonb) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.override_problems(value jsonb, kind jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.override_schema() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.pause(which bigint, because smallint, detail text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.pause(which bigint, because smallint, detail text) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.pause_app(app text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.pause_app(app text) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.pause_run(which bigint, because smallint, detail text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.pause_run(which bigint, because smallint, detail text) TO pushfleet_worker;
GRANT ALL ON FUNCTION pushfleet.pause_run(which bigint, because smallint, detail text) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.placeholders(value text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.pointer_step(key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.presentation_problems(presentation jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.quiet_end(instant timestamp with time zone, zone text, fallback text, quiet_from time without time zone, quiet_until time without time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.quiet_end(instant timestamp with time zone, zone text, fallback text, quiet_from time without time zone, quiet_until time without time zone) TO pushfleet_worker;
GRANT ALL ON FUNCTION pushfleet.quiet_end(instant timestamp with time zone, zone text, fallback text, quiet_from time without time zone, quiet_until time without time zone) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.record_events(in_app bigint, in_ids uuid[], in_runs bigint[], in_numbers bigint[], in_kinds smallint[], in_at timestamp with time zone[]) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.record_events(in_app bigint, in_ids uuid[], in_runs bigint[], in_numbers bigint[], in_kinds smallint[], in_at timestamp with time zone[]) TO pushfleet_intake;

REVOKE ALL ON FUNCTION pushfleet.refresh_time_zones() FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.refresh_time_zones() TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.refuse(who text, problems jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.refuse_template_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.register_subscriber(app text, installation jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.register_subscriber(app text, installation jsonb) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.require_caller(which text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.require_run(which bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.resolve_message(which_app bigint, said jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.restore_tokens(app text, credential text, from_at timestamp with time zone, to_at timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.resume(which bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.resume(which bigint) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.resume_app(app text) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.resume_app(app text) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.rotate_bucket(seen integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.rotate_bucket(seen integer) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.route_rate(rate integer, ramp interval, ramp_since timestamp with time zone, slow_rate integer, slow_until timestamp with time zone, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.route_rate(rate integer, ramp interval, ramp_since timestamp with time zone, slow_rate integer, slow_until timestamp with time zone, at timestamp with time zone) TO pushfleet_worker;

REVOKE ALL ON FUNCTION pushfleet.schedule_campaign(campaign jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.schedule_campaign(campaign jsonb) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.settled_until(grace interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.standing_run(which bigint, day date, policy smallint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.stop(which bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.stopped(which bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.sum_tallies() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.summarize_day(parent text, day date) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.take_back(in_shard smallint, which bigint, as_outcome smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.take_back(in_shard smallint, which bigint, as_outcome smallint) TO pushfleet_janitor;

REVOKE ALL ON FUNCTION pushfleet.take_slots(of_run bigint, of_route bigint, wanted integer, ahead interval, at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.take_slots(of_run bigint, of_route bigint, wanted integer, ahead interval, at timestamp with time zone) TO pushfleet_worker;

REVOKE ALL ON FUNCTION pushfleet.test_place(campaign bigint, user_id text, subscriber bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.test_place(campaign bigint, user_id text, subscriber bigint) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.text_problems(value jsonb, at text, at_most integer, missing text, too_long text, takes_placeholders boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.unregister_subscriber(app text, recipient jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.unregister_subscriber(app text, recipient jsonb) TO pushfleet_caller;

REVOKE ALL ON FUNCTION pushfleet.vacuum_past_days() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.variant_problems(value jsonb, at text) FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet.wave_at(wall timestamp without time zone, zone text, fallback text, past_local smallint, begun_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.wave_at(wall timestamp without time zone, zone text, fallback text, past_local smallint, begun_at timestamp with time zone) TO pushfleet_scheduler;

REVOKE ALL ON FUNCTION pushfleet.white_space() FROM PUBLIC;

REVOKE ALL ON FUNCTION pushfleet_report.outcome_name(code smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet_report.outcome_name(code smallint) TO pushfleet_reporter;

REVOKE ALL ON FUNCTION pushfleet_report.run_status_name(code smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet_report.run_status_name(code smallint) TO pushfleet_reporter;

REVOKE ALL ON FUNCTION pushfleet_report.token_state_name(code smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet_report.token_state_name(code smallint) TO pushfleet_reporter;

REVOKE ALL ON FUNCTION pushfleet_report.transport_name(code smallint) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet_report.transport_name(code smallint) TO pushfleet_janitor;
GRANT ALL ON FUNCTION pushfleet_report.transport_name(code smallint) TO pushfleet_reporter;

REVOKE ALL ON FUNCTION pushfleet_report.wilson(successes bigint, trials bigint, sign integer) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet_report.wilson(successes bigint, trials bigint, sign integer) TO pushfleet_reporter;

REVOKE ALL ON FUNCTION pushfleet.joined(anycompatiblearray) FROM PUBLIC;
GRANT ALL ON FUNCTION pushfleet.joined(anycompatiblearray) TO pushfleet_scheduler;

GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.access_token TO pushfleet_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.batch TO pushfleet_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.batch TO pushfleet_scheduler;
GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.batch TO pushfleet_janitor;

GRANT SELECT,DELETE ON TABLE pushfleet.notification TO pushfleet_worker;
GRANT SELECT ON TABLE pushfleet.notification TO pushfleet_janitor;

GRANT UPDATE(due_at) ON TABLE pushfleet.notification TO pushfleet_worker;

GRANT SELECT,INSERT ON TABLE pushfleet.run TO pushfleet_scheduler;

GRANT SELECT(id) ON TABLE pushfleet.run TO pushfleet_worker;
GRANT SELECT(id) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT SELECT(app_id) ON TABLE pushfleet.run TO pushfleet_worker;
GRANT SELECT(app_id) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT SELECT(status) ON TABLE pushfleet.run TO pushfleet_worker;
GRANT SELECT(status),UPDATE(status) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT SELECT(lane) ON TABLE pushfleet.run TO pushfleet_worker;
GRANT SELECT(lane) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT SELECT(standing) ON TABLE pushfleet.run TO pushfleet_janitor;
GRANT SELECT(standing) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(in_doubt) ON TABLE pushfleet.run TO pushfleet_worker;
GRANT SELECT(in_doubt) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT SELECT(announce_window) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(max_attempts) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(rate) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(content_version) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT UPDATE(due_at) ON TABLE pushfleet.run TO pushfleet_scheduler;
GRANT SELECT(due_at) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT UPDATE(expand_at) ON TABLE pushfleet.run TO pushfleet_scheduler;

GRANT UPDATE(audience_as_of) ON TABLE pushfleet.run TO pushfleet_scheduler;

GRANT SELECT(closed_at),UPDATE(closed_at) ON TABLE pushfleet.run TO pushfleet_janitor;

GRANT SELECT(retry_horizon) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(variant_versions) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(exempt) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT(quiet_policy) ON TABLE pushfleet.run TO pushfleet_worker;

GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.run_progress TO pushfleet_scheduler;
GRANT SELECT ON TABLE pushfleet.run_progress TO pushfleet_janitor;

GRANT UPDATE(expanded) ON TABLE pushfleet.run_progress TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.accounting TO pushfleet_janitor;

GRANT INSERT ON TABLE pushfleet.retry TO pushfleet_worker;
GRANT SELECT,DELETE ON TABLE pushfleet.retry TO pushfleet_scheduler;
GRANT SELECT,DELETE ON TABLE pushfleet.retry TO pushfleet_janitor;

GRANT UPDATE(due_at) ON TABLE pushfleet.retry TO pushfleet_scheduler;
GRANT UPDATE(due_at) ON TABLE pushfleet.retry TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.accounting_violation TO pushfleet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.answer_minute TO pushfleet_worker;
GRANT SELECT,DELETE ON TABLE pushfleet.answer_minute TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.app TO pushfleet_worker;
GRANT SELECT ON TABLE pushfleet.app TO pushfleet_scheduler;
GRANT SELECT ON TABLE pushfleet.app TO pushfleet_janitor;

GRANT INSERT ON TABLE pushfleet.attempt TO pushfleet_worker;

GRANT USAGE ON SEQUENCE pushfleet.batch_id_seq TO pushfleet_worker;
GRANT USAGE ON SEQUENCE pushfleet.batch_id_seq TO pushfleet_scheduler;
GRANT USAGE ON SEQUENCE pushfleet.batch_id_seq TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.bucket TO pushfleet_worker;
GRANT SELECT ON TABLE pushfleet.bucket TO pushfleet_scheduler;
GRANT SELECT ON TABLE pushfleet.bucket TO pushfleet_janitor;

GRANT INSERT ON TABLE pushfleet.bypass TO pushfleet_scheduler;

GRANT SELECT ON TABLE pushfleet.campaign TO pushfleet_scheduler;

GRANT UPDATE(state) ON TABLE pushfleet.campaign TO pushfleet_scheduler;

GRANT UPDATE(next_at) ON TABLE pushfleet.campaign TO pushfleet_scheduler;

GRANT UPDATE(problems) ON TABLE pushfleet.campaign TO pushfleet_scheduler;

GRANT SELECT,INSERT,DELETE ON TABLE pushfleet.content_version TO pushfleet_scheduler;

GRANT SELECT(id) ON TABLE pushfleet.content_version TO pushfleet_worker;
GRANT SELECT(id) ON TABLE pushfleet.content_version TO pushfleet_janitor;

GRANT SELECT(message) ON TABLE pushfleet.content_version TO pushfleet_worker;

GRANT SELECT(delivery) ON TABLE pushfleet.content_version TO pushfleet_worker;

GRANT SELECT(channel) ON TABLE pushfleet.content_version TO pushfleet_worker;

GRANT SELECT(variant) ON TABLE pushfleet.content_version TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.credential TO pushfleet_worker;

GRANT SELECT(id) ON TABLE pushfleet.credential TO pushfleet_scheduler;
GRANT SELECT(id) ON TABLE pushfleet.credential TO pushfleet_janitor;

GRANT UPDATE(state) ON TABLE pushfleet.credential TO pushfleet_worker;
GRANT SELECT(state) ON TABLE pushfleet.credential TO pushfleet_scheduler;

GRANT UPDATE(state_reason) ON TABLE pushfleet.credential TO pushfleet_worker;

GRANT UPDATE(state_since) ON TABLE pushfleet.credential TO pushfleet_worker;

GRANT UPDATE(revision) ON TABLE pushfleet.credential TO pushfleet_worker;

GRANT UPDATE(fault_fingerprint) ON TABLE pushfleet.credential TO pushfleet_worker;

GRANT UPDATE(state_detail) ON TABLE pushfleet.credential TO pushfleet_worker;

GRANT SELECT(wave_share) ON TABLE pushfleet.credential TO pushfleet_janitor;

GRANT SELECT(wave_least) ON TABLE pushfleet.credential TO pushfleet_janitor;

GRANT INSERT ON TABLE pushfleet.delivery TO pushfleet_worker;
GRANT INSERT ON TABLE pushfleet.delivery TO pushfleet_scheduler;
GRANT INSERT ON TABLE pushfleet.delivery TO pushfleet_janitor;

GRANT SELECT(subscriber_id) ON TABLE pushfleet.delivery TO pushfleet_scheduler;

GRANT SELECT(batch_id) ON TABLE pushfleet.delivery TO pushfleet_worker;
GRANT SELECT(batch_id) ON TABLE pushfleet.delivery TO pushfleet_scheduler;
GRANT SELECT(batch_id) ON TABLE pushfleet.delivery TO pushfleet_janitor;

GRANT SELECT(outcome) ON TABLE pushfleet.delivery TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.duty TO pushfleet_worker;

GRANT UPDATE(holder) ON TABLE pushfleet.duty TO pushfleet_worker;

GRANT UPDATE(held_until) ON TABLE pushfleet.duty TO pushfleet_worker;

GRANT SELECT,INSERT ON TABLE pushfleet.frequency TO pushfleet_worker;

GRANT SELECT(app_id) ON TABLE pushfleet.frequency TO pushfleet_scheduler;

GRANT SELECT(user_key) ON TABLE pushfleet.frequency TO pushfleet_scheduler;

GRANT UPDATE(hits) ON TABLE pushfleet.frequency TO pushfleet_worker;

GRANT UPDATE(hit_at) ON TABLE pushfleet.frequency TO pushfleet_worker;
GRANT SELECT(hit_at) ON TABLE pushfleet.frequency TO pushfleet_scheduler;

GRANT SELECT,INSERT ON TABLE pushfleet.job TO pushfleet_worker;
GRANT INSERT ON TABLE pushfleet.job TO pushfleet_scheduler;
GRANT SELECT,INSERT ON TABLE pushfleet.job TO pushfleet_janitor;

GRANT SELECT(batch_id) ON TABLE pushfleet.job TO pushfleet_scheduler;

GRANT SELECT(subscriber_id) ON TABLE pushfleet.job TO pushfleet_scheduler;

GRANT SELECT(ordinal) ON TABLE pushfleet.job TO pushfleet_scheduler;

GRANT SELECT ON TABLE pushfleet.lane_clock TO pushfleet_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.lane_clock TO pushfleet_scheduler;
GRANT SELECT ON TABLE pushfleet.lane_clock TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.migration TO pushfleet_worker;
GRANT SELECT ON TABLE pushfleet.migration TO pushfleet_scheduler;
GRANT SELECT ON TABLE pushfleet.migration TO pushfleet_janitor;
GRANT SELECT ON TABLE pushfleet.migration TO pushfleet_intake;

GRANT SELECT(notification_id) ON TABLE pushfleet.notification_sibling TO pushfleet_worker;

GRANT SELECT(sibling_id) ON TABLE pushfleet.notification_sibling TO pushfleet_worker;

GRANT SELECT ON TABLE pushfleet.rate_second TO pushfleet_worker;
GRANT DELETE ON TABLE pushfleet.rate_second TO pushfleet_janitor;

GRANT SELECT(at_second) ON TABLE pushfleet.rate_second TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.route TO pushfleet_worker;
GRANT SELECT ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(state) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(state) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(slow_rate) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(slow_rate) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(slow_until) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(slow_until) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(paused_reason) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(paused_reason) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(paused_at) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(paused_at) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(slowed_at) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(slowed_at) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT UPDATE(trips) ON TABLE pushfleet.route TO pushfleet_worker;

GRANT UPDATE(reopen_at) ON TABLE pushfleet.route TO pushfleet_worker;
GRANT UPDATE(reopen_at) ON TABLE pushfleet.route TO pushfleet_scheduler;

GRANT SELECT,INSERT ON TABLE pushfleet.run_route TO pushfleet_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.run_route TO pushfleet_scheduler;
GRANT SELECT ON TABLE pushfleet.run_route TO pushfleet_janitor;

GRANT UPDATE(low_tag) ON TABLE pushfleet.run_route TO pushfleet_worker;
GRANT UPDATE(low_tag) ON TABLE pushfleet.run_route TO pushfleet_janitor;

GRANT INSERT ON TABLE pushfleet.run_total TO pushfleet_janitor;

GRANT SELECT(run_id) ON TABLE pushfleet.run_total TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet.segment TO pushfleet_scheduler;

GRANT DELETE ON TABLE pushfleet.subscriber TO pushfleet_janitor;

GRANT SELECT(shard) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(shard) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;
GRANT SELECT(shard) ON TABLE pushfleet.subscriber TO pushfleet_janitor;

GRANT SELECT(id) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(id) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;
GRANT SELECT(id) ON TABLE pushfleet.subscriber TO pushfleet_janitor;

GRANT SELECT(app_id) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(app_id) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(transport) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(transport) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(service) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(service) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(state),UPDATE(state) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(state) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;
GRANT SELECT(state),UPDATE(state) ON TABLE pushfleet.subscriber TO pushfleet_janitor;

GRANT SELECT(environment),UPDATE(environment) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT UPDATE(evidence) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT(address_version) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(address_version) ON TABLE pushfleet.subscriber TO pushfleet_janitor;

GRANT SELECT(registered_at) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(registered_at) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT UPDATE(state_since) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(state_since),UPDATE(state_since) ON TABLE pushfleet.subscriber TO pushfleet_janitor;

GRANT SELECT(seen_at) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(external_id) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(user_id) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;
GRANT SELECT(user_id) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT(address) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT(p256dh) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT(auth) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT(language) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(language) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(time_zone) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;
GRANT SELECT(time_zone) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT(tags) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(attributes) ON TABLE pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT(attributes) ON TABLE pushfleet.subscriber TO pushfleet_scheduler;

GRANT SELECT(vapid_credential) ON TABLE pushfleet.subscriber TO pushfleet_worker;

GRANT SELECT ON TABLE pushfleet.template TO pushfleet_scheduler;

GRANT SELECT ON TABLE pushfleet.time_zone TO pushfleet_scheduler;

GRANT INSERT ON TABLE pushfleet.token_change TO pushfleet_worker;
GRANT SELECT,DELETE ON TABLE pushfleet.token_change TO pushfleet_janitor;

GRANT UPDATE(verdict) ON TABLE pushfleet.token_change TO pushfleet_janitor;

GRANT UPDATE(verdict_at) ON TABLE pushfleet.token_change TO pushfleet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.token_wave TO pushfleet_janitor;

GRANT SELECT,INSERT,UPDATE ON TABLE pushfleet.worker TO pushfleet_worker;
GRANT SELECT,DELETE ON TABLE pushfleet.worker TO pushfleet_janitor;

GRANT UPDATE(sighted_by) ON TABLE pushfleet.worker TO pushfleet_janitor;

GRANT UPDATE(sighted_first_at) ON TABLE pushfleet.worker TO pushfleet_janitor;

GRANT UPDATE(sighted_last_at) ON TABLE pushfleet.worker TO pushfleet_janitor;

GRANT SELECT ON TABLE pushfleet_report.accounting TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.accounting_violation TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.bypasses TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.campaigns TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.credentials TO pushfleet_janitor;
GRANT SELECT ON TABLE pushfleet_report.credentials TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.daily TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.events TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.hourly TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.latency TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.newly_unregistered TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.outcomes TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.queue TO pushfleet_janitor;
GRANT SELECT ON TABLE pushfleet_report.queue TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.retries TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.runs TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.tokens TO pushfleet_reporter;

GRANT SELECT ON TABLE pushfleet_report.workers TO pushfleet_reporter;


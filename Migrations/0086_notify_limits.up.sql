-- why: notify() waits for the end of quiet hours, and a message may say that it goes past them or a cap, and why
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- Whether `bypass` of a message's options names rules, each once, and says why.
CREATE FUNCTION pushfleet.is_bypass(bypass jsonb) RETURNS boolean
LANGUAGE sql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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
REVOKE ALL ON FUNCTION pushfleet.is_bypass FROM PUBLIC;

-- Two options more, and a due instant for each device, in functions that otherwise stay as they are.
DO $do$
DECLARE
    changed text := pg_get_functiondef('pushfleet.check_options'::regproc);
    part text[];
BEGIN
    FOREACH part SLICE 1 IN ARRAY ARRAY[
        [$old$            'ttlSeconds', 'collapseKey', 'priority', 'inDoubt', 'fcmMode', 'analyticsLabel', 'idempotencyKey',
            'notBefore'
$old$, $new$            'ttlSeconds', 'collapseKey', 'priority', 'inDoubt', 'fcmMode', 'analyticsLabel', 'quietHours', 'bypass',
            'idempotencyKey', 'notBefore'
$new$],
        [$old$            WHEN 'idempotencyKey' THEN 'must be 1 to 255$old$, $new$            WHEN 'quietHours' THEN 'must be "defer" or "skip"'
            WHEN 'bypass' THEN 'must be {"rules": ["frequency_cap", "quiet_hours"], "reason": "…"}: one rule or both, and '
                '1 to 200 bytes of reason'
            WHEN 'idempotencyKey' THEN 'must be 1 to 255$new$],
        [$old$fcmMode, analyticsLabel, '
                'idempotencyKey, notBefore'$old$, $new$fcmMode, analyticsLabel, '
                'quietHours, bypass, idempotencyKey, notBefore'$new$],
        [$old$        WHEN 'idempotencyKey' THEN jsonb_typeof$old$, $new$        WHEN 'quietHours' THEN o.value IN ('"defer"', '"skip"')
        WHEN 'bypass' THEN pushfleet.is_bypass(o.value)
        WHEN 'idempotencyKey' THEN jsonb_typeof$new$]
    ] LOOP
        IF strpos(changed, part[1]) = 0 THEN
            RAISE EXCEPTION 'check_options() is not the function that this migration knows';
        END IF;
        changed := replace(changed, part[1], part[2]);
    END LOOP;
    EXECUTE changed;
END
$do$;
DO $do$
DECLARE
    changed text := pg_get_functiondef('pushfleet.notify'::regproc);
    part text[];
BEGIN
    FOREACH part SLICE 1 IN ARRAY ARRAY[
        [$old$    the_run bigint;
    version bigint;
BEGIN$old$, $new$    the_run bigint;
    version bigint;
    said jsonb;
    delivery CONSTANT jsonb := options - '{idempotencyKey,notBefore,ttlSeconds,inDoubt}'::text[];
    rules smallint;
BEGIN$new$],
        [$old$    version := pushfleet.keep_message(
        the_run, pushfleet.resolve_message(the_app, message),
        options - '{idempotencyKey,notBefore,ttlSeconds,inDoubt}'::text[]);
$old$, $new$    said := pushfleet.resolve_message(the_app, message);
    version := pushfleet.keep_message(the_run, said, delivery);
    rules := pushfleet.exempt_rules(said, delivery);
    -- Looked for first, so that no row grows with the calls, and no caller waits for another over it.
    IF options ? 'bypass' AND NOT EXISTS (
        SELECT FROM pushfleet.bypass b WHERE b.content_version = version AND b.caller = session_user
    ) THEN
        INSERT INTO pushfleet.bypass (app_id, run_id, content_version, rules, reason)
        VALUES (the_app, the_run, version, pushfleet.exempt_rules('{}', delivery), options #>> '{bypass,reason}');
    END IF;
$new$],
        [$old$        SELECT s.shard, s.id, row_number() OVER (ORDER BY s.seen_at DESC NULLS LAST, s.id) AS place
$old$, $new$        SELECT s.shard, s.id, row_number() OVER (ORDER BY s.seen_at DESC NULLS LAST, s.id) AS place,
            -- What would be skipped is so by the worker, who records it.
            CASE
                WHEN a.quiet_from IS NOT NULL AND rules & 2 = 0
                    AND coalesce(options ->> 'quietHours' = 'defer', a.quiet_policy = 0)
                THEN pushfleet.quiet_end(due, s.time_zone, a.time_zone, a.quiet_from, a.quiet_until)
            END AS quiet_end
$new$],
        [$old$            the_run, target.id, version, due,
            due + make_interval(secs => coalesce((options ->> 'ttlSeconds')::numeric, 2419200))
$old$, $new$            the_run, target.id, version, coalesce(target.quiet_end, due),
            coalesce(target.quiet_end, due)
                + make_interval(secs => coalesce((options ->> 'ttlSeconds')::numeric, 2419200))
$new$]
    ] LOOP
        IF strpos(changed, part[1]) = 0 THEN
            RAISE EXCEPTION 'notify() is not the function that this migration knows';
        END IF;
        changed := replace(changed, part[1], part[2]);
    END LOOP;
    EXECUTE changed;
END
$do$;

-- why: schedule_campaign(): a campaign in the caller's own transaction, checked in full before it begins
-- locks: campaign, exclusively, for a moment: a column without a rewrite, an index of what waits
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.campaign ADD COLUMN problems jsonb;
COMMENT ON COLUMN pushfleet.campaign.state IS '0 waits to be checked, 1 active, 2 refused, 3 over';
COMMENT ON COLUMN pushfleet.campaign.problems IS 'Why it was refused: pointer, code and message of everything wrong.';
CREATE INDEX campaign_waiting ON pushfleet.campaign (id) WHERE state = 0;

-- What SQL can tell of a campaign file. Audiences, schedules and sizes are left to the scheduler.
CREATE FUNCTION pushfleet.campaign_problems(campaign jsonb)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
STABLE
SET search_path = pushfleet, pg_temp
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

-- Stores a campaign within the caller's transaction. A scheduler checks the rest before it is due, and either begins it
-- or refuses it with all problems.
CREATE FUNCTION pushfleet.schedule_campaign(campaign jsonb) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
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
COMMENT ON FUNCTION pushfleet.schedule_campaign IS
    'Stores a campaign file; its id. PF400, PF403, PF404, PF409. A scheduler checks what SQL cannot.';

REVOKE ALL ON FUNCTION pushfleet.campaign_problems, pushfleet.schedule_campaign FROM PUBLIC;

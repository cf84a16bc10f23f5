-- why: check_message(): every rule of the content model that SQL decides exactly, all problems at once
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- A text in its place: of the wrong type, or missing, blank, too long, with a placeholder that is none.
CREATE FUNCTION pushfleet.text_problems(
    value jsonb, at text, at_most int, missing text, too_long text, takes_placeholders boolean
)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

CREATE FUNCTION pushfleet.link_problems(value jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

CREATE FUNCTION pushfleet.image_problems(value jsonb, at text, invalid text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

-- What may not stand in an object.
CREATE FUNCTION pushfleet.member_problems(value jsonb, at text, known text[])
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

CREATE FUNCTION pushfleet.action_problems(value jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

-- One language.
CREATE FUNCTION pushfleet.variant_problems(value jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

CREATE FUNCTION pushfleet.content_problems(content jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

CREATE FUNCTION pushfleet.data_problems(data jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

CREATE FUNCTION pushfleet.presentation_problems(presentation jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

-- A message that stands at `at`.
CREATE FUNCTION pushfleet.message_problems(message jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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

CREATE FUNCTION pushfleet.check_message(message jsonb)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT p.pointer, p.code, p.problem
    FROM pushfleet.message_problems(message, '/message') p
    ORDER BY p.pointer COLLATE "C", p.code COLLATE "C";
END
$$;
COMMENT ON FUNCTION pushfleet.check_message IS
    'Everything wrong with a message that SQL can tell: all but sizes, and counts of characters near a limit.';

REVOKE ALL ON FUNCTION pushfleet.text_problems, pushfleet.link_problems, pushfleet.image_problems,
    pushfleet.member_problems, pushfleet.action_problems, pushfleet.variant_problems, pushfleet.content_problems,
    pushfleet.data_problems, pushfleet.presentation_problems, pushfleet.message_problems, pushfleet.check_message
    FROM PUBLIC;

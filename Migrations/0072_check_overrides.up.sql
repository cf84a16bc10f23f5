-- why: the blocks of the FCM v1 message that overrides may hold, as the campaign reader takes them
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- By JSON name, a kind: a word, or an object {"word": […]}, {"duration": seconds}, {"list": kind},
-- {"message": {"fields", "required", "pairs"}}. From Google's discovery document fcm:v1.
CREATE FUNCTION pushfleet.override_schema() RETURNS jsonb
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

-- Whether a push service would refuse this value of a header that it knows (Apple: sending notification requests to
-- APNs; RFC 8030 section 5). The name is in lower case.
CREATE FUNCTION pushfleet.is_header_value(name text, value text) RETURNS boolean
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

-- Texts by name: handed to the app, or sent as HTTP fields.
CREATE FUNCTION pushfleet.named_text_problems(value jsonb, kind text, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

-- A single value; NULL: the kind is none of these.
CREATE FUNCTION pushfleet.is_override_value(value jsonb, kind jsonb) RETURNS boolean
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path = pushfleet, pg_temp
AS $$
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
$$;

CREATE FUNCTION pushfleet.override_problems(value jsonb, kind jsonb, at text)
RETURNS TABLE (pointer text, code text, problem text)
LANGUAGE plpgsql
IMMUTABLE
SET search_path = pushfleet, pg_temp
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
    ELSIF kind IN ('"data"', '"headers"') AND jsonb_typeof(value) = 'object' THEN
        RETURN QUERY SELECT * FROM pushfleet.named_text_problems(value, kind #>> '{}', at);
    ELSIF NOT coalesce(pushfleet.is_override_value(value, kind), false) THEN
        RETURN QUERY SELECT at, 'override_invalid', 'is not what the provider takes here';
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pushfleet.override_schema, pushfleet.is_header_value, pushfleet.named_text_problems,
    pushfleet.is_override_value, pushfleet.override_problems FROM PUBLIC;

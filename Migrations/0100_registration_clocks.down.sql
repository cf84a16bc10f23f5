CREATE OR REPLACE FUNCTION pushfleet.register_subscriber(app text, installation jsonb) RETURNS bigint
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
            coalesce(nullif(given.registered_at, '')::timestamptz, clock_timestamp()) AS registered_at,
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
            ELSE greatest(known.registered_at, excluded.registered_at)
        END
    RETURNING known.id INTO STRICT result;
    RETURN result;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.installation_problems(installation jsonb) RETURNS TABLE(pointer text, code text, problem text)
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
        ('attributes', octet_length((given -> 'attributes')::text) > 16384, 'has more than 16384 bytes'),
        ('tags', jsonb_typeof(given -> 'tags') = 'array' AND EXISTS (
            SELECT FROM jsonb_array_elements_text(
                CASE jsonb_typeof(given -> 'tags') WHEN 'array' THEN given -> 'tags' ELSE '[]' END) AS tag
            WHERE octet_length(tag) > 255
        ), 'has a tag of more than 255 bytes'),
        ('registered_at', given ->> 'registered_at' <> '' AND NOT pushfleet.is_instant(given ->> 'registered_at'),
            'must be an instant such as 2031-03-01T06:30:00Z')
    ) AS rule (key, is_broken, problem)
    WHERE rule.is_broken;
END
$_$;

CREATE OR REPLACE FUNCTION pushfleet.intake_register(in_app bigint, in_external_id text, in_user_id text, in_transport smallint, in_address text, in_environment smallint, in_p256dh text, in_auth text, in_language text, in_time_zone text, in_attributes jsonb, in_tags text[], in_registered_at timestamp with time zone, in_vapid_key text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
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

DROP FUNCTION pushfleet.expired_days();
CREATE FUNCTION pushfleet.expired_days() RETURNS TABLE(parent text, child text, is_pending boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT kind.what, format('%I', c.relname), i.inhdetachpending
    FROM (VALUES ('delivery'), ('attempt')) kind (what)
    JOIN pushfleet.retention r ON r.what = kind.what
    JOIN pg_inherits i ON i.inhparent = ('pushfleet.' || kind.what)::regclass
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (
        SELECT (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at
    ) day
    WHERE day.ends_at < now() - r.keep
        AND (SELECT min(m.folded_until) FROM pushfleet.tally_mark m) >= day.ends_at
        AND NOT EXISTS (
            SELECT FROM pushfleet.run
            LEFT JOIN pushfleet.run_total t ON t.run_id = run.id
            WHERE run.created_at < day.ends_at AND t.audited_at IS NULL
        )
    ORDER BY c.relname
$$;
REVOKE ALL ON FUNCTION pushfleet.expired_days FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pushfleet.expired_days TO pushfleet_janitor;

CREATE OR REPLACE FUNCTION pushfleet.take_back(in_shard smallint, which bigint, as_outcome smallint) RETURNS integer
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
            shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version
        )
        SELECT in_shard, t.run_id, t.id, t.subscriber_id, made.id, 0, as_outcome, 0, t.content_version
        FROM taken t
        CROSS JOIN made
        RETURNING number
    )
    SELECT count(*)::int FROM recorded
$$;

DROP FUNCTION pushfleet.settled_until(interval);
CREATE FUNCTION pushfleet.settled_until() RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    SELECT CASE
        WHEN pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
        THEN greatest(now() - interval '60 s', least(now() - interval '1 s', min(a.xact_start)))
        ELSE now() - interval '60 s'
    END
    FROM pg_stat_activity a
    WHERE a.datname = current_database()
        AND a.pid <> pg_backend_pid()
        AND a.backend_type = 'client backend'
        AND (a.xact_start IS NULL OR a.xact_start > now() - interval '60 s')
$$;
REVOKE ALL ON FUNCTION pushfleet.settled_until FROM PUBLIC;

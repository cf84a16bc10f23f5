-- why: what a caller's long transaction takes back is counted, and a day whose dropping was cut short goes
-- locks: none; three functions
-- safe with workers running: yes
-- lowest binary: 1

-- Until when every delivery that will ever be written is there to be counted.
--
-- Without pg_read_all_stats other roles' transactions have no start, and would look as if none were under way. A transaction
-- that lasts longer than `grace` is taken for somebody's report, unless it holds the lock of one that writes deliveries: it
-- took back a notification, and nobody sees that yet. What it writes is of the time when it was written, so that what was
-- settled before it got the lock stays so.
DROP FUNCTION pushfleet.settled_until();
CREATE FUNCTION pushfleet.settled_until(grace interval DEFAULT '60 s') RETURNS timestamptz
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
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
REVOKE ALL ON FUNCTION pushfleet.settled_until FROM PUBLIC;

-- Ends a notification that nobody collected yet: a batch of one, born done. 0: too late. Of the time when it is written: a
-- caller's transaction may have begun long ago.
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
            shard, run_id, number, subscriber_id, batch_id, at, ordinal, outcome, attempts, content_version
        )
        SELECT in_shard, t.run_id, t.id, t.subscriber_id, made.id, clock_timestamp(), 0, as_outcome, 0, t.content_version
        FROM taken t
        CROSS JOIN made
        RETURNING number
    )
    SELECT count(*)::int FROM recorded
$$;

-- Days that are kept no longer: counted, and of runs that are all audited. Also one that was detached and not dropped.
DROP FUNCTION pushfleet.expired_days();
CREATE FUNCTION pushfleet.expired_days() RETURNS TABLE(parent text, child text, is_pending boolean, is_detached boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
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
$$;
REVOKE ALL ON FUNCTION pushfleet.expired_days FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pushfleet.expired_days TO pushfleet_janitor;

-- why: an owner that cannot see others' transactions counts a minute late, not too early
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- Without pg_read_all_stats other roles' transactions have no start, and would look as if none were under way.
CREATE OR REPLACE FUNCTION pushfleet.settled_until() RETURNS timestamptz
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
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

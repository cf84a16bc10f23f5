CREATE OR REPLACE FUNCTION pushfleet.settled_until() RETURNS timestamptz
LANGUAGE sql
STABLE
AS $$
    SELECT greatest(now() - interval '60 s', least(now() - interval '1 s', min(a.xact_start)))
    FROM pg_stat_activity a
    WHERE a.datname = current_database()
        AND a.pid <> pg_backend_pid()
        AND a.backend_type = 'client backend'
        AND (a.xact_start IS NULL OR a.xact_start > now() - interval '60 s')
$$;

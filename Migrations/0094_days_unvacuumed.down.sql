CREATE OR REPLACE FUNCTION pushfleet.ensure_day(parent text, day date) RETURNS void
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
        'CREATE TABLE pushfleet.%I (LIKE pushfleet.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
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

CREATE OR REPLACE FUNCTION pushfleet.ensure_days(ahead integer DEFAULT 7) RETURNS void
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
END
$$;

DROP FUNCTION pushfleet.vacuum_past_days();

DO $$
DECLARE
    child regclass;
BEGIN
    FOR child IN
        SELECT i.inhrelid::regclass
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('pushfleet.delivery'::regclass, 'pushfleet.attempt'::regclass)
            AND c.reloptions @> '{autovacuum_vacuum_insert_threshold=-1}'
        ORDER BY 1
    LOOP
        EXECUTE format('ALTER TABLE %s RESET (autovacuum_vacuum_insert_threshold)', child);
    END LOOP;
END
$$;

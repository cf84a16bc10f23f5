DROP VIEW pushfleet.tally_violation;
DROP FUNCTION pushfleet.count_tokens;
DROP FUNCTION pushfleet.fold;
DROP FUNCTION pushfleet.settled_until;
DROP FUNCTION pushfleet.language_label;
DROP FUNCTION pushfleet.latency_class;
DO $$
DECLARE
    day record;
BEGIN
    FOR day IN
        SELECT c.relname
        FROM pg_inherits i
        JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('pushfleet.delivery'::regclass, 'pushfleet.attempt'::regclass)
    LOOP
        EXECUTE format('DROP INDEX pushfleet.%I', day.relname || '_at');
    END LOOP;
END
$$;
CREATE OR REPLACE FUNCTION pushfleet.ensure_day(parent text, day date) RETURNS void
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
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
        'ALTER TABLE pushfleet.%I ATTACH PARTITION pushfleet.%I FOR VALUES FROM (%L) TO (%L)',
        parent, child, day || ' 00:00+00', day + 1 || ' 00:00+00');
END
$$;
DROP TABLE pushfleet.token_tally;
DROP TABLE pushfleet.tally_mark;
DROP TABLE pushfleet.tally_latency;
DROP TABLE pushfleet.tally;

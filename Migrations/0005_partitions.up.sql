-- why: partitions of job by time and volume, of delivery and attempt by UTC day
-- locks: none; everything here is new
-- safe with workers running: yes
-- lowest binary: 1

-- A partition is made as a table, then attached: that waits for no reader of the parent, however long it reads, where
-- CREATE TABLE PARTITION OF would wait for all of them and hold up everybody else meanwhile (manual, CREATE TABLE).

-- Seals the current bucket and opens the next. Any role may call it; a call that lost the race changes nothing.
CREATE FUNCTION pushfleet.rotate_bucket(seen int) RETURNS int
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    next_id int;
BEGIN
    LOCK TABLE pushfleet.bucket IN SHARE ROW EXCLUSIVE MODE;
    SELECT b.id INTO next_id
    FROM pushfleet.bucket b
    WHERE b.sealed_at IS NULL AND b.id IS DISTINCT FROM seen
    ORDER BY b.id DESC
    LIMIT 1;
    IF next_id IS NOT NULL THEN
        RETURN next_id;
    END IF;
    UPDATE pushfleet.bucket SET sealed_at = now() WHERE sealed_at IS NULL;
    INSERT INTO pushfleet.bucket DEFAULT VALUES RETURNING id INTO next_id;
    EXECUTE format('CREATE TABLE pushfleet.job_%s (LIKE pushfleet.job INCLUDING DEFAULTS)', next_id);
    EXECUTE format('CREATE INDEX job_%1$s_batch ON pushfleet.job_%1$s (batch_id)', next_id);
    EXECUTE format('ALTER TABLE pushfleet.job ATTACH PARTITION pushfleet.job_%1$s FOR VALUES IN (%1$s)', next_id);
    RETURN next_id;
END
$$;

-- One day's partition of delivery or attempt, unless it is there.
CREATE FUNCTION pushfleet.ensure_day(parent text, day date) RETURNS void
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

-- Partitions for today and some days ahead. There is no DEFAULT partition: it would make every later one scan it.
-- Every role calls this at its start and hourly.
CREATE FUNCTION pushfleet.ensure_days(ahead int DEFAULT 7) RETURNS void
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
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

-- Drops a sealed bucket that no open batch needs. false = still pinned: evacuate it first.
-- Lock first, look second: a page in flight either holds the partition's lock (then we time out and come back) or finds
-- the partition gone and fails as a whole.
CREATE FUNCTION pushfleet.drop_bucket(which int) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM set_config('lock_timeout', '200ms', true);
    IF NOT EXISTS (SELECT FROM pushfleet.bucket WHERE id = which AND sealed_at IS NOT NULL) THEN
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM pushfleet.batch WHERE bucket_id = which AND state IN (0, 1, 5)) THEN
        RETURN false;
    END IF;
    EXECUTE format('LOCK TABLE pushfleet.job_%s IN ACCESS EXCLUSIVE MODE', which);
    IF EXISTS (SELECT FROM pushfleet.batch WHERE bucket_id = which AND state IN (0, 1, 5)) THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE pushfleet.job_%s', which);
    DELETE FROM pushfleet.bucket WHERE id = which;
    RETURN true;
END
$$;

-- Appends arrays of any lengths, which array_agg does not. In no particular order.
CREATE AGGREGATE pushfleet.joined(anycompatiblearray) (SFUNC = array_cat, STYPE = anycompatiblearray);

SELECT pushfleet.rotate_bucket(NULL);
SELECT pushfleet.ensure_days();

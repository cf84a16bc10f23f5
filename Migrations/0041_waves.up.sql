-- why: a wall clock's time in each subscriber's zone, by PostgreSQL's own zones, whatever subscribers call theirs
-- locks: run, exclusively, for a moment: columns with constant defaults
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.run ADD COLUMN missing_zone smallint NOT NULL DEFAULT 0;
ALTER TABLE pushfleet.run ADD COLUMN past_local smallint NOT NULL DEFAULT 0;
ALTER TABLE pushfleet.run ADD COLUMN zone_rules text;
ALTER TABLE pushfleet.run ADD CONSTRAINT run_missing_zone CHECK (missing_zone IN (0, 1));
ALTER TABLE pushfleet.run ADD CONSTRAINT run_past_local CHECK (past_local IN (0, 1, 2));
COMMENT ON COLUMN pushfleet.run.missing_zone IS 'A subscriber without a valid zone: 0 the app''s zone, 1 skip';
COMMENT ON COLUMN pushfleet.run.past_local IS 'A zone whose hour had passed at expand_at: 0 send now, 1 skip, 2 next day';
COMMENT ON COLUMN pushfleet.run.zone_rules IS
    'Fingerprint of every zone''s instant when the run was made: differs where the zone data changed since.';

-- The names that this server knows; reading pg_timezone_names itself opens every file of the zone data.
CREATE TABLE pushfleet.time_zone (
    key text PRIMARY KEY,
    name text NOT NULL
);
COMMENT ON TABLE pushfleet.time_zone IS 'Zones by lower-case name. A name that is not here, such as XYZ-9, is no zone.';

CREATE FUNCTION pushfleet.refresh_time_zones() RETURNS void
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH known AS MATERIALIZED (
        SELECT lower(z.name) AS key, min(z.name) AS name
        FROM pg_catalog.pg_timezone_names z
        WHERE z.name <> 'localtime' AND z.name NOT LIKE 'posix%'
        GROUP BY lower(z.name)
    ),
    gone AS (
        DELETE FROM pushfleet.time_zone
        WHERE time_zone.key NOT IN (SELECT known.key FROM known) AND EXISTS (SELECT FROM known)
    )
    INSERT INTO pushfleet.time_zone (key, name)
    SELECT known.key, known.name
    FROM known
    ON CONFLICT (key) DO NOTHING
$$;
SELECT pushfleet.refresh_time_zones();

-- What a zone's clock shows at an instant. The zone is set for the function alone, not named in AT TIME ZONE, which takes
-- CET, EET, MET and WET for abbreviations that know no summer time (manual, appendix B.4).
CREATE FUNCTION pushfleet.local_time(instant timestamptz, zone text) RETURNS timestamp
LANGUAGE plpgsql
STABLE
SET search_path = pushfleet, pg_temp
SET timezone = 'UTC'
AS $$
BEGIN
    PERFORM set_config('timezone', zone, true);
    RETURN instant::timestamp;
END
$$;

-- The instant at which a zone's clock first shows a time, or would have: where clocks jump over it, the first instant
-- after the jump; where they show it twice, the first of the two. An unknown zone is an invalid_parameter_value.
-- PostgreSQL by itself takes the later of two, and moves a time that was jumped over by as much as was jumped
-- (DetermineTimeZoneOffset in its datetime.c).
CREATE FUNCTION pushfleet.local_instant(wall timestamp, zone text) RETURNS timestamptz
LANGUAGE plpgsql
STABLE
SET search_path = pushfleet, pg_temp
SET timezone = 'UTC'
AS $$
DECLARE
    found timestamptz;
    shown timestamp;
    earlier timestamptz;
    low bigint;
    high bigint;
    middle bigint;
BEGIN
    -- As above; undone when the function ends. Casts between timestamp and timestamptz are by this zone.
    PERFORM set_config('timezone', zone, true);
    found := wall::timestamptz;
    shown := found::timestamp;
    IF shown = wall THEN
        -- By the offset of the day before: an earlier instant where clocks went back in between.
        earlier := found - interval '24 h';
        earlier := (wall - (earlier::timestamp - (earlier AT TIME ZONE 'UTC'))) AT TIME ZONE 'UTC';
        IF earlier < found AND earlier::timestamp = wall THEN
            RETURN earlier;
        END IF;
        RETURN found;
    END IF;
    -- Zones change at whole seconds: the first that shows the time or a later one.
    high := ceil(extract(epoch FROM found))::bigint;
    low := high - ceil(abs(extract(epoch FROM shown - wall)))::bigint - 1;
    WHILE high - low > 1 LOOP
        middle := low + (high - low) / 2;
        IF to_timestamp(middle)::timestamp < wall THEN
            low := middle;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN to_timestamp(high);
END
$$;

-- A subscriber's due instant in a run by local time. NULL = no zone and nothing in its place; -infinity = its hour had
-- passed and the run skips it. A zone that the server lost meanwhile counts as missing.
CREATE FUNCTION pushfleet.wave_at(
    wall timestamp, zone text, fallback text, past_local smallint, begun_at timestamptz
) RETURNS timestamptz
LANGUAGE plpgsql
STABLE
SET search_path = pushfleet, pg_temp
SET timezone = 'UTC'
AS $$
DECLARE
    known text := coalesce((SELECT z.name FROM pushfleet.time_zone z WHERE z.key = lower(zone)), fallback);
    due timestamptz;
    day date;
BEGIN
    IF known IS NULL THEN
        RETURN NULL;
    END IF;
    BEGIN
        due := pushfleet.local_instant(wall, known);
    EXCEPTION WHEN invalid_parameter_value THEN
        IF fallback IS NULL THEN
            RETURN NULL;
        END IF;
        known := fallback;
        due := pushfleet.local_instant(wall, known);
    END;
    IF due >= begun_at THEN
        RETURN due;
    END IF;
    IF past_local = 0 THEN
        RETURN begun_at;
    ELSIF past_local = 1 THEN
        RETURN '-infinity';
    END IF;
    day := pushfleet.local_time(begun_at, known)::date;
    due := pushfleet.local_instant(day + wall::time, known);
    IF due < begun_at THEN
        due := pushfleet.local_instant(day + 1 + wall::time, known);
    END IF;
    RETURN due;
END
$$;

INSERT INTO pushfleet.reason (code, name) VALUES (41, 'no_time_zone'), (42, 'hour_past');

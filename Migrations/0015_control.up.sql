-- why: pause, resume and cancel of a run and of an app as functions, with why a run paused itself
-- locks: pushfleet.app and pushfleet.run ACCESS EXCLUSIVE for an instant, no rewrite
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.app ADD COLUMN paused_at timestamptz;
COMMENT ON COLUMN pushfleet.app.paused_at IS 'Nothing of the app is claimed or begun while this is set.';

ALTER TABLE pushfleet.run
    ADD COLUMN paused_at timestamptz,
    ADD COLUMN paused_reason smallint,
    ADD COLUMN paused_detail text;
COMMENT ON COLUMN pushfleet.run.paused_reason IS 'Why it paused itself (pushfleet.reason); NULL = somebody paused it.';
COMMENT ON COLUMN pushfleet.run.paused_detail IS 'The same in a sentence, with figures. No address, no content.';

-- Each of these writes one row of a small table, whatever the size of the run or app, and waits for nobody: neither
-- pages of an expansion nor claims, flushes or settlement write that row. Workers learn of it from their next flush, and
-- one that cannot flush begins nothing after 700 ms.

-- False: it is not running.
CREATE FUNCTION pushfleet.pause(which bigint, because smallint DEFAULT NULL, detail text DEFAULT NULL)
RETURNS boolean
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH paused AS (
        UPDATE pushfleet.run
        SET status = 2, paused_at = now(), paused_reason = because, paused_detail = detail
        WHERE run.id = which AND run.status = 1
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM paused)
$$;
COMMENT ON FUNCTION pushfleet.pause IS
    'Stops a run: no request begins later than a second after the commit. False: it is not running.';

-- False: it is not paused.
CREATE FUNCTION pushfleet.resume(which bigint) RETURNS boolean
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH resumed AS (
        UPDATE pushfleet.run
        SET status = 1, paused_at = NULL, paused_reason = NULL, paused_detail = NULL
        WHERE run.id = which AND run.status = 2
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM resumed)
$$;
COMMENT ON FUNCTION pushfleet.resume IS 'Goes on with a paused run. False: it is not paused.';

-- The first half of cancel, for callers that commit before they count. False: it is over.
CREATE FUNCTION pushfleet.stop(which bigint) RETURNS boolean
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH stopped AS (
        UPDATE pushfleet.run
        SET status = 3
        WHERE run.id = which AND run.status IN (1, 2)
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM stopped)
$$;
COMMENT ON FUNCTION pushfleet.stop IS 'Cancels a run without counting. False: it is over, or unknown.';

-- What a cancel can say at once. Read from tallies; a mask of the announced ordinals says which have no mark.
CREATE FUNCTION pushfleet.stopped(which bigint)
RETURNS TABLE (delivered bigint, in_flight_at_most bigint, stopped bigint)
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT
        coalesce(sum(b.delivered), 0)::bigint,
        coalesce(sum(flight.jobs), 0)::bigint,
        coalesce(sum(b.size - b.settled - flight.jobs), 0)::bigint + (
            SELECT count(*)
            FROM pushfleet.run_progress p
            JOIN pushfleet.retry ON retry.shard = p.shard AND retry.run_id = p.run_id
            WHERE p.run_id = which
        ) + (
            SELECT count(*)
            FROM pushfleet.run_progress p
            JOIN pushfleet.notification n ON n.shard = p.shard AND n.run_id = p.run_id
            WHERE p.run_id = which
        )
    FROM pushfleet.run_progress p
    JOIN pushfleet.batch b ON b.shard = p.shard AND b.run_id = p.run_id
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN b.state = 1
            THEN bit_count(~b.marked & rpad(repeat('1', b.announced), b.size, '0')::varbit)
            ELSE 0
        END AS jobs
    ) flight
    WHERE p.run_id = which
$$;
COMMENT ON FUNCTION pushfleet.stopped IS
    'Of a run: delivered, announced and without an outcome, and open otherwise. Exact once it is settled.';

CREATE FUNCTION pushfleet.cancel(which bigint)
RETURNS TABLE (delivered bigint, in_flight_at_most bigint, stopped bigint)
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    SELECT answer.delivered, answer.in_flight_at_most, answer.stopped
    FROM pushfleet.stop(which) AS done (yes)
    CROSS JOIN LATERAL pushfleet.stopped(which) AS answer
    WHERE done.yes
$$;
COMMENT ON FUNCTION pushfleet.cancel IS
    'Ends a run for good: how many were delivered, are in flight at most, were stopped. No row: it is over.';

CREATE FUNCTION pushfleet.pause_app(app text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pushfleet.app a WHERE a.name = pause_app.app) THEN
        RAISE EXCEPTION 'there is no app of that name' USING ERRCODE = 'P0001', DETAIL = pause_app.app;
    END IF;
    UPDATE pushfleet.app a SET paused_at = now() WHERE a.name = pause_app.app AND a.paused_at IS NULL;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION pushfleet.pause_app IS 'Stops all runs and notifications of an app. False: it was paused already.';

CREATE FUNCTION pushfleet.resume_app(app text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pushfleet.app a WHERE a.name = resume_app.app) THEN
        RAISE EXCEPTION 'there is no app of that name' USING ERRCODE = 'P0001', DETAIL = resume_app.app;
    END IF;
    UPDATE pushfleet.app a SET paused_at = NULL WHERE a.name = resume_app.app AND a.paused_at IS NOT NULL;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION pushfleet.resume_app IS 'Goes on with a paused app; runs that are paused stay so. False: it was not.';

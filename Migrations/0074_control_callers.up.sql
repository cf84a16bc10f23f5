-- why: a caller of the SQL API pauses, resumes and cancels what belongs to its apps, and nothing else
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- Refuses callers that were not granted the run's app; a run that is not there is nobody's.
CREATE FUNCTION pushfleet.require_run(which bigint) RETURNS void
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    owner text := (SELECT a.name FROM pushfleet.run r JOIN pushfleet.app a ON a.id = r.app_id WHERE r.id = which);
BEGIN
    IF owner IS NOT NULL THEN
        PERFORM pushfleet.require_caller(owner);
    END IF;
END
$$;

-- For the fleet's own roles: a worker or janitor pauses a run of whatever app.
CREATE FUNCTION pushfleet.pause_run(which bigint, because smallint, detail text)
RETURNS boolean
LANGUAGE sql
SECURITY DEFINER
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

CREATE OR REPLACE FUNCTION pushfleet.pause(which bigint, because smallint DEFAULT NULL, detail text DEFAULT NULL)
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    RETURN pushfleet.pause_run(which, because, detail);
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.resume(which bigint) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    UPDATE pushfleet.run
    SET status = 1, paused_at = NULL, paused_reason = NULL, paused_detail = NULL
    WHERE run.id = which AND run.status = 2;
    RETURN FOUND;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.stop(which bigint) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    UPDATE pushfleet.run
    SET status = 3
    WHERE run.id = which AND run.status IN (1, 2);
    RETURN FOUND;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.stopped(which bigint)
RETURNS TABLE (delivered bigint, in_flight_at_most bigint, stopped bigint)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    RETURN QUERY
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
    WHERE p.run_id = which;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.cancel(which bigint)
RETURNS TABLE (delivered bigint, in_flight_at_most bigint, stopped bigint)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    RETURN QUERY
    SELECT answer.delivered, answer.in_flight_at_most, answer.stopped
    FROM pushfleet.stop(which) AS done (yes)
    CROSS JOIN LATERAL pushfleet.stopped(which) AS answer
    WHERE done.yes;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.pause_app(app text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    UPDATE pushfleet.app a
    SET paused_at = now()
    WHERE a.id = pushfleet.require_caller(pause_app.app) AND a.paused_at IS NULL;
    RETURN FOUND;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.resume_app(app text) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
BEGIN
    UPDATE pushfleet.app a
    SET paused_at = NULL
    WHERE a.id = pushfleet.require_caller(resume_app.app) AND a.paused_at IS NOT NULL;
    RETURN FOUND;
END
$$;

REVOKE ALL ON FUNCTION pushfleet.require_run, pushfleet.pause_run, pushfleet.pause, pushfleet.resume, pushfleet.stop,
    pushfleet.stopped, pushfleet.cancel, pushfleet.pause_app, pushfleet.resume_app FROM PUBLIC;

CREATE OR REPLACE FUNCTION pushfleet.pause(which bigint, because smallint DEFAULT NULL, detail text DEFAULT NULL)
RETURNS boolean
LANGUAGE sql
SECURITY INVOKER
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

CREATE OR REPLACE FUNCTION pushfleet.resume(which bigint) RETURNS boolean
LANGUAGE sql
SECURITY INVOKER
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

CREATE OR REPLACE FUNCTION pushfleet.stop(which bigint) RETURNS boolean
LANGUAGE sql
SECURITY INVOKER
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

CREATE OR REPLACE FUNCTION pushfleet.stopped(which bigint)
RETURNS TABLE (delivered bigint, in_flight_at_most bigint, stopped bigint)
LANGUAGE sql
STABLE
SECURITY INVOKER
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

CREATE OR REPLACE FUNCTION pushfleet.cancel(which bigint)
RETURNS TABLE (delivered bigint, in_flight_at_most bigint, stopped bigint)
LANGUAGE sql
SECURITY INVOKER
SET search_path = pushfleet, pg_temp
AS $$
    SELECT answer.delivered, answer.in_flight_at_most, answer.stopped
    FROM pushfleet.stop(which) AS done (yes)
    CROSS JOIN LATERAL pushfleet.stopped(which) AS answer
    WHERE done.yes
$$;

CREATE OR REPLACE FUNCTION pushfleet.pause_app(app text) RETURNS boolean
LANGUAGE plpgsql
SECURITY INVOKER
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

CREATE OR REPLACE FUNCTION pushfleet.resume_app(app text) RETURNS boolean
LANGUAGE plpgsql
SECURITY INVOKER
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

GRANT EXECUTE ON FUNCTION pushfleet.pause, pushfleet.resume, pushfleet.stop, pushfleet.stopped, pushfleet.cancel,
    pushfleet.pause_app, pushfleet.resume_app TO PUBLIC;
DROP FUNCTION pushfleet.pause_run;
DROP FUNCTION pushfleet.require_run;

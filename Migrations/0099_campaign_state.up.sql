-- why: a caller could not tell which runs a campaign has, nor why it was refused, and ended the day's single notifications by
-- a campaign's number
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

CREATE OR REPLACE FUNCTION pushfleet.stop(which bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    IF EXISTS (SELECT FROM pushfleet.run WHERE run.id = which AND run.standing) THEN
        RAISE EXCEPTION 'run: % holds the single notifications of a day and cannot be cancelled; pause it or its app, '
            'or take one back by cancel_notification(id)', which
            USING ERRCODE = 'PF400';
    END IF;
    UPDATE pushfleet.run
    SET status = 3
    WHERE run.id = which AND run.status IN (1, 2);
    RETURN FOUND;
END
$$;

CREATE OR REPLACE FUNCTION pushfleet.pause(which bigint, because smallint DEFAULT NULL::smallint, detail text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
    IF because IS NOT NULL AND NOT EXISTS (SELECT FROM pushfleet.reason r WHERE r.code = because) THEN
        RAISE EXCEPTION 'because: % is no code of pushfleet.reason; leave it out, or say why in detail', because
            USING ERRCODE = 'PF400';
    END IF;
    RETURN pushfleet.pause_run(which, because, detail);
END
$$;

-- Runs of a campaign are numbered apart from campaigns: who schedules one is to find them.
CREATE FUNCTION pushfleet.campaign_state(which bigint)
RETURNS TABLE (state text, problems jsonb, run_id bigint, run_status text, due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
#variable_conflict use_column
DECLARE
    owner text := (
        SELECT a.name FROM pushfleet.campaign c JOIN pushfleet.app a ON a.id = c.app_id WHERE c.id = which
    );
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    PERFORM pushfleet.require_caller(owner);
    RETURN QUERY
    SELECT c.state, c.problems, r.id, pushfleet_report.run_status_name(r.status), r.due_at
    FROM pushfleet_report.campaigns c
    LEFT JOIN pushfleet.run r ON r.campaign_id = c.campaign_id AND NOT r.is_test
    WHERE c.campaign_id = which
    ORDER BY r.due_at, r.id;
END
$$;

COMMENT ON FUNCTION pushfleet.campaign_state(bigint) IS
    'Of a campaign: waiting (to be checked), active, refused with its problems, or over; a row for each of its runs. PF403.';
REVOKE ALL ON FUNCTION pushfleet.campaign_state(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pushfleet.campaign_state(bigint) TO pushfleet_caller;

-- What waits to be checked was called over. The problems stand last: a view's columns keep their places.
CREATE OR REPLACE VIEW pushfleet_report.campaigns AS
SELECT campaign.id AS campaign_id, app.name AS app, campaign.name, campaign.created_at,
    (ARRAY['waiting', 'active', 'refused', 'over'])[campaign.state + 1] AS state,
    runs.n AS runs, runs.first_due_at, runs.last_due_at, campaign.problems
FROM pushfleet.campaign
JOIN pushfleet.app ON app.id = campaign.app_id
CROSS JOIN LATERAL (
    SELECT count(*) AS n, min(run.due_at) AS first_due_at, max(run.due_at) AS last_due_at
    FROM pushfleet.run
    WHERE run.campaign_id = campaign.id AND NOT run.is_test
) runs;
COMMENT ON VIEW pushfleet_report.campaigns IS 'One row for each campaign; why, if it was refused.';

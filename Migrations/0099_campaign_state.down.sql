CREATE OR REPLACE FUNCTION pushfleet.stop(which bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
BEGIN
    PERFORM pushfleet.require_run(which);
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
    RETURN pushfleet.pause_run(which, because, detail);
END
$$;

DROP FUNCTION pushfleet.campaign_state(bigint);

DROP VIEW pushfleet_report.campaigns;

CREATE VIEW pushfleet_report.campaigns AS
SELECT campaign.id AS campaign_id, app.name AS app, campaign.name, campaign.created_at,
    CASE campaign.state WHEN 1 THEN 'active' WHEN 2 THEN 'refused' ELSE 'over' END AS state,
    runs.n AS runs, runs.first_due_at, runs.last_due_at
FROM pushfleet.campaign
JOIN pushfleet.app ON app.id = campaign.app_id
CROSS JOIN LATERAL (
    SELECT count(*) AS n, min(run.due_at) AS first_due_at, max(run.due_at) AS last_due_at
    FROM pushfleet.run
    WHERE run.campaign_id = campaign.id AND NOT run.is_test
) runs;
COMMENT ON VIEW pushfleet_report.campaigns IS 'One row for each campaign.';

GRANT SELECT ON pushfleet_report.campaigns TO pushfleet_reporter;

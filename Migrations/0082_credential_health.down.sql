DROP FUNCTION pushfleet.forget_answers;
DROP VIEW pushfleet_report.credentials;
CREATE VIEW pushfleet_report.credentials AS
SELECT app.name AS app, credential.name AS credential, pushfleet_report.transport_name(credential.transport) AS transport,
    CASE credential.state WHEN 0 THEN 'ok' ELSE 'paused' END AS state, reason.name AS reason, credential.state_since,
    greatest(credential.last_success_at, (
        SELECT max(m.at_minute)
        FROM pushfleet.answer_minute m
        WHERE m.credential_id = credential.id AND m.answers > m.gone + m.foreign_to_us
    )) AS last_success_at
FROM pushfleet.credential
JOIN pushfleet.app ON app.id = credential.app_id
JOIN pushfleet.reason ON reason.code = credential.state_reason;
COMMENT ON VIEW pushfleet_report.credentials IS 'Whether each credential works, and why not.';
COMMENT ON COLUMN pushfleet.credential.last_success_at IS NULL;
DO $$
BEGIN
    IF to_regrole('pushfleet_janitor') IS NOT NULL THEN
        GRANT SELECT ON pushfleet_report.credentials TO pushfleet_janitor;
    END IF;
    IF to_regrole('pushfleet_reporter') IS NOT NULL THEN
        GRANT SELECT ON pushfleet_report.credentials TO pushfleet_reporter;
    END IF;
END
$$;

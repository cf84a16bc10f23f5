-- why: a credential's last success outlives the counts of answers, and how long its token is good can be seen
-- locks: catalogue row of a view, for a moment
-- safe with workers running: yes
-- lowest binary: 1

COMMENT ON COLUMN pushfleet.credential.last_success_at IS
    'The last that answer_minute held when it was cleared; the view pushfleet_report.credentials knows the newest.';

-- Clears counts of answers, and keeps of each credential when it last succeeded.
CREATE FUNCTION pushfleet.forget_answers(older_than interval) RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
    WITH
    forgotten AS (
        DELETE FROM pushfleet.answer_minute m
        WHERE m.at_minute < now() - older_than
        RETURNING m.credential_id, m.at_minute, m.answers > m.gone + m.foreign_to_us AS is_success
    ),
    newest AS (
        SELECT f.credential_id, max(f.at_minute) AS at_minute
        FROM forgotten f
        WHERE f.is_success
        GROUP BY f.credential_id
    )
    UPDATE pushfleet.credential c
    SET last_success_at = greatest(c.last_success_at, newest.at_minute)
    FROM newest
    WHERE c.id = newest.credential_id AND c.last_success_at IS DISTINCT FROM greatest(c.last_success_at, newest.at_minute)
$$;
REVOKE ALL ON FUNCTION pushfleet.forget_answers FROM PUBLIC;

-- Keys as such do not expire; what is signed with them, and given for them, does.
CREATE OR REPLACE VIEW pushfleet_report.credentials AS
SELECT app.name AS app, credential.name AS credential, pushfleet_report.transport_name(credential.transport) AS transport,
    CASE credential.state WHEN 0 THEN 'ok' ELSE 'paused' END AS state, reason.name AS reason, credential.state_since,
    greatest(credential.last_success_at, (
        SELECT max(m.at_minute)
        FROM pushfleet.answer_minute m
        WHERE m.credential_id = credential.id AND m.answers > m.gone + m.foreign_to_us
    )) AS last_success_at,
    token.expires_at AS token_expires_at
FROM pushfleet.credential
JOIN pushfleet.app ON app.id = credential.app_id
JOIN pushfleet.reason ON reason.code = credential.state_reason
LEFT JOIN pushfleet.access_token token ON token.credential_id = credential.id;

DO $$
BEGIN
    IF to_regrole('pushfleet_janitor') IS NOT NULL THEN
        GRANT EXECUTE ON FUNCTION pushfleet.forget_answers TO pushfleet_janitor;
    END IF;
END
$$;

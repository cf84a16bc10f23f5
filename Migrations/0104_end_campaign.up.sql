-- why: a recurring campaign could not be stopped: its next occurrence began, whatever was cancelled
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

CREATE FUNCTION pushfleet.end_campaign(which bigint) RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    owner text := (
        SELECT a.name FROM pushfleet.campaign c JOIN pushfleet.app a ON a.id = c.app_id WHERE c.id = which
    );
BEGIN
    IF owner IS NULL THEN
        RETURN false;
    END IF;
    PERFORM pushfleet.require_caller(owner);
    UPDATE pushfleet.campaign c
    SET state = 3, next_at = NULL
    WHERE c.id = which AND (c.state = 0 OR c.state = 1 AND c.next_at IS NOT NULL);
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION pushfleet.end_campaign(bigint) IS
    'No further run of a campaign begins; those that it has go on. False: none was to come. PF403.';
REVOKE ALL ON FUNCTION pushfleet.end_campaign(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pushfleet.end_campaign(bigint) TO pushfleet_caller;

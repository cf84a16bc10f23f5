-- why: the process that strangers talk to has a group role of its own, with the least that it needs
-- locks: catalogue rows of functions, for a moment
-- safe with workers running: yes
-- lowest binary: 1

-- Roles belong to the whole cluster: somebody else may have made it, or be making it now.
DO $$
BEGIN
    BEGIN
        IF to_regrole('pushfleet_intake') IS NULL THEN
            CREATE ROLE pushfleet_intake NOLOGIN;
        END IF;
    EXCEPTION
        WHEN duplicate_object OR unique_violation THEN
            NULL;
        WHEN insufficient_privilege THEN
            RAISE EXCEPTION 'there is no role pushfleet_intake, and % may not create it', current_user
                USING ERRCODE = 'insufficient_privilege',
                    HINT = 'Run Deploy/postgresql/roles.sql in this database, as a superuser.';
    END;
    -- What every process asks at its start.
    IF to_regclass('pushfleet.migration') IS NOT NULL THEN
        GRANT SELECT ON pushfleet.migration TO pushfleet_intake;
    END IF;
    -- Whichever of the two roles was made first.
    IF to_regrole('pushfleet_reporter') IS NOT NULL THEN
        GRANT SELECT ON pushfleet_report.events TO pushfleet_reporter;
        GRANT EXECUTE ON FUNCTION pushfleet_report.wilson TO pushfleet_reporter;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION pushfleet_report.wilson FROM PUBLIC;
GRANT USAGE ON SCHEMA pushfleet TO pushfleet_intake;
GRANT EXECUTE ON FUNCTION pushfleet.intake_caller, pushfleet.intake_register, pushfleet.intake_unregister,
    pushfleet.record_events, pushfleet.forget_events TO pushfleet_intake;

-- A role that another database of the cluster uses stays.
REVOKE ALL ON FUNCTION pushfleet.intake_caller, pushfleet.intake_register, pushfleet.intake_unregister,
    pushfleet.record_events, pushfleet.forget_events FROM pushfleet_intake;
REVOKE ALL ON SCHEMA pushfleet FROM pushfleet_intake;
DO $$
BEGIN
    IF to_regclass('pushfleet.migration') IS NOT NULL THEN
        REVOKE ALL ON pushfleet.migration FROM pushfleet_intake;
    END IF;
    IF to_regrole('pushfleet_reporter') IS NOT NULL THEN
        REVOKE ALL ON pushfleet_report.events FROM pushfleet_reporter;
        REVOKE ALL ON FUNCTION pushfleet_report.wilson FROM pushfleet_reporter;
    END IF;
    BEGIN
        DROP ROLE pushfleet_intake;
    EXCEPTION
        WHEN dependent_objects_still_exist OR insufficient_privilege OR object_in_use THEN
            NULL;
    END;
END
$$;
GRANT EXECUTE ON FUNCTION pushfleet_report.wilson TO PUBLIC;

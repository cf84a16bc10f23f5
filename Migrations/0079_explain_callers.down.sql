REVOKE EXECUTE ON FUNCTION pushfleet.explain FROM pushfleet_caller;
DO $$
DECLARE
    check_caller CONSTANT text := concat_ws(
        E'\n',
        '    IF NOT pg_has_role(session_user, ''pushfleet_reporter'', ''MEMBER'') THEN',
        '        PERFORM pushfleet.require_caller(explain.app);',
        '    END IF;',
        '');
BEGIN
    EXECUTE replace(pg_get_functiondef('pushfleet.explain'::regproc), check_caller, '');
END
$$;
COMMENT ON FUNCTION pushfleet.explain IS
    'One subscriber''s or user''s story of the last days. Shows no address and no attribute.';

-- why: a caller of the SQL API may ask why somebody of its own apps did or did not get something
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- One check more in a long function that otherwise stays as it is: a reporter may ask of every app, a caller of those
-- that it was granted.
DO $$
DECLARE
    place CONSTANT text := '    SELECT c.* INTO problem FROM';
    check_caller CONSTANT text := concat_ws(
        E'\n',
        '    IF NOT pg_has_role(session_user, ''pushfleet_reporter'', ''MEMBER'') THEN',
        '        PERFORM pushfleet.require_caller(explain.app);',
        '    END IF;',
        '');
    known CONSTANT text := pg_get_functiondef('pushfleet.explain'::regproc);
    checked CONSTANT text := replace(known, place, check_caller || place);
BEGIN
    IF checked = known THEN
        RAISE EXCEPTION 'explain() is not the function that this migration knows';
    END IF;
    EXECUTE checked;
END
$$;
GRANT EXECUTE ON FUNCTION pushfleet.explain TO pushfleet_caller;
COMMENT ON FUNCTION pushfleet.explain IS
    'Why one subscriber or user did or did not get something; no address, no attribute. PF400, PF403, PF404.';

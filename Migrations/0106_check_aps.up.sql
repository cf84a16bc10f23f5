-- why: an override of aps that Apple cannot read was taken as valid, and a notification of it shows nothing
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- One branch more in a function that otherwise stays as it is. Of the payload all but `aps` is the app's own.
DO $$
DECLARE
    place CONSTANT text := $place$    ELSIF kind IN ('"data"', '"headers"') AND$place$;
    check_aps CONSTANT text := $branch$    ELSIF kind = '"free"' AND at LIKE '%/apns/payload' AND jsonb_typeof(value) = 'object' THEN
        IF value ? 'aps' AND jsonb_typeof(value -> 'aps') <> 'object' THEN
            RETURN QUERY SELECT at || '/aps', 'override_invalid', 'must be an object';
        ELSIF jsonb_typeof(value #> '{aps,alert}') NOT IN ('string', 'object') THEN
            RETURN QUERY SELECT at || '/aps/alert', 'override_invalid', 'must be a text or an object';
        END IF;
$branch$;
    known CONSTANT text := pg_get_functiondef('pushfleet.override_problems'::regproc);
    checked CONSTANT text := replace(known, place, check_aps || place);
BEGIN
    IF checked = known THEN
        RAISE EXCEPTION 'pushfleet.override_problems is not what this migration changes';
    END IF;
    EXECUTE checked;
END
$$;

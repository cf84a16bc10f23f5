DO $$
DECLARE
    check_aps CONSTANT text := $branch$    ELSIF kind = '"free"' AND at LIKE '%/apns/payload' AND jsonb_typeof(value) = 'object' THEN
        IF value ? 'aps' AND jsonb_typeof(value -> 'aps') <> 'object' THEN
            RETURN QUERY SELECT at || '/aps', 'override_invalid', 'must be an object';
        ELSIF jsonb_typeof(value #> '{aps,alert}') NOT IN ('string', 'object') THEN
            RETURN QUERY SELECT at || '/aps/alert', 'override_invalid', 'must be a text or an object';
        END IF;
$branch$;
BEGIN
    EXECUTE replace(pg_get_functiondef('pushfleet.override_problems'::regproc), check_aps, '');
END
$$;

DROP FUNCTION pushfleet.override_problems;
DROP FUNCTION pushfleet.is_override_value;
DROP FUNCTION pushfleet.named_text_problems;
DROP FUNCTION pushfleet.is_header_value;
DROP FUNCTION pushfleet.override_schema;

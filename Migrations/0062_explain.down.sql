DROP FUNCTION pushfleet.explain;

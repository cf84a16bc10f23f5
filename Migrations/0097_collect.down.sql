DROP FUNCTION pushfleet.collect(smallint, uuid, integer, integer);

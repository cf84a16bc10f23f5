DROP FUNCTION pushfleet.end_campaign(bigint);

DROP FUNCTION pushfleet.schedule_campaign;
DROP FUNCTION pushfleet.campaign_problems;
-- What nobody checked cannot begin.
UPDATE pushfleet.campaign SET state = 2 WHERE state = 0;
DROP INDEX pushfleet.campaign_waiting;
COMMENT ON COLUMN pushfleet.campaign.state IS '1 active, 2 refused, 3 over';
ALTER TABLE pushfleet.campaign DROP COLUMN problems;

DROP TRIGGER campaign_has_target ON pushfleet.campaign;
DROP FUNCTION pushfleet.make_campaign_target();
ALTER TABLE pushfleet.subscriber DROP CONSTRAINT subscriber_is_no_topic;
DELETE FROM pushfleet.subscriber WHERE app_id < 0;
ALTER TABLE pushfleet.campaign DROP COLUMN target_id;

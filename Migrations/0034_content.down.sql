DROP TRIGGER content_version_completes ON pushfleet.content_version;
DROP FUNCTION pushfleet.complete_content_version();
ALTER TABLE pushfleet.content_version DROP COLUMN template_id;
ALTER TABLE pushfleet.content_version DROP COLUMN channel;
ALTER TABLE pushfleet.content_version DROP COLUMN app_id;
ALTER TABLE pushfleet.app DROP COLUMN fcm_mode;
DROP TABLE pushfleet.channel;
DROP TABLE pushfleet.template;
DROP FUNCTION pushfleet.refuse_template_change();

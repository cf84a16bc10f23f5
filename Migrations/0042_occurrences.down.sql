DROP INDEX pushfleet.run_queued;
COMMENT ON COLUMN pushfleet.run.expand_at IS 'When its expansion may begin: before its earliest batch is due.';
ALTER TABLE pushfleet.run DROP COLUMN plan;
ALTER TABLE pushfleet.run DROP COLUMN is_test;
DROP INDEX pushfleet.campaign_next;
ALTER TABLE pushfleet.campaign DROP COLUMN next_at;

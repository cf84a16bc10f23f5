DROP FUNCTION pushfleet.resume_app(text);
DROP FUNCTION pushfleet.pause_app(text);
DROP FUNCTION pushfleet.cancel(bigint);
DROP FUNCTION pushfleet.stopped(bigint);
DROP FUNCTION pushfleet.stop(bigint);
DROP FUNCTION pushfleet.resume(bigint);
DROP FUNCTION pushfleet.pause(bigint, smallint, text);
ALTER TABLE pushfleet.run DROP COLUMN paused_detail, DROP COLUMN paused_reason, DROP COLUMN paused_at;
ALTER TABLE pushfleet.app DROP COLUMN paused_at;

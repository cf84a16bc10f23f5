DELETE FROM pushfleet.reason WHERE code IN (41, 42);
DROP FUNCTION pushfleet.wave_at(timestamp, text, text, smallint, timestamptz);
DROP FUNCTION pushfleet.local_instant(timestamp, text);
DROP FUNCTION pushfleet.local_time(timestamptz, text);
DROP FUNCTION pushfleet.refresh_time_zones();
DROP TABLE pushfleet.time_zone;
ALTER TABLE pushfleet.run DROP COLUMN zone_rules;
ALTER TABLE pushfleet.run DROP COLUMN past_local;
ALTER TABLE pushfleet.run DROP COLUMN missing_zone;

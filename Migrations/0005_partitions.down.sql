DROP AGGREGATE pushfleet.joined(anycompatiblearray);
DROP FUNCTION pushfleet.drop_bucket(int);
DROP FUNCTION pushfleet.ensure_days(int);
DROP FUNCTION pushfleet.ensure_day(text, date);
DROP FUNCTION pushfleet.rotate_bucket(int);

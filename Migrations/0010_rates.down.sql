DROP FUNCTION pushfleet.take_slots(bigint, bigint, int, interval, timestamptz);
DROP FUNCTION pushfleet.route_rate(int, interval, timestamptz, int, timestamptz, timestamptz);
ALTER TABLE pushfleet.rate_second DROP COLUMN campaign_slices, DROP COLUMN slices;
ALTER TABLE pushfleet.route
    DROP COLUMN reopen_at,
    DROP COLUMN trips,
    DROP COLUMN slowed_at,
    DROP COLUMN ramp_since,
    DROP COLUMN ramp;
ALTER TABLE pushfleet.app DROP CONSTRAINT app_rate, DROP COLUMN rate;

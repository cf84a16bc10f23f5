DROP VIEW pushfleet_report.events;
DROP FUNCTION pushfleet_report.wilson;
DROP FUNCTION pushfleet.forget_events, pushfleet.record_events;
DROP TABLE pushfleet.event_tally, pushfleet.event_seen, pushfleet.intake_key;

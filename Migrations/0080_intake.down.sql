DROP VIEW pushfleet_report.events;
DROP FUNCTION pushfleet_report.wilson;
DROP FUNCTION pushfleet.intake_caller, pushfleet.intake_register, pushfleet.intake_unregister, pushfleet.forget_events,
    pushfleet.record_events;
DROP TABLE pushfleet.event_tally, pushfleet.event_first, pushfleet.event_seen, pushfleet.intake_key;

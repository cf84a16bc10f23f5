DELETE FROM pushfleet.reason WHERE code IN (43, 44);
REVOKE SELECT (standing) ON pushfleet.run FROM pushfleet_worker;
REVOKE SELECT (user_id, time_zone) ON pushfleet.subscriber FROM pushfleet_worker;
REVOKE SELECT (notification_id, sibling_id) ON pushfleet.notification_sibling FROM pushfleet_worker;
DROP FUNCTION pushfleet.forget_frequencies, pushfleet.exempt_rules, pushfleet.quiet_end;
DROP TABLE pushfleet.bypass, pushfleet.frequency;
DROP INDEX pushfleet.notification_sibling_by_sibling;
ALTER TABLE pushfleet.campaign DROP COLUMN caller;
ALTER TABLE pushfleet.run
    DROP COLUMN exempt,
    DROP COLUMN quiet_policy;
ALTER TABLE pushfleet.app
    DROP COLUMN cap_most,
    DROP COLUMN cap_window,
    DROP COLUMN quiet_from,
    DROP COLUMN quiet_until,
    DROP COLUMN quiet_policy;

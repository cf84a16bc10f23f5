DROP FUNCTION pushfleet.forget_old;
DROP FUNCTION pushfleet.expired_days;
DROP INDEX pushfleet.run_total_unaudited;
DROP FUNCTION pushfleet.audit_next;
ALTER TABLE pushfleet.run_total DROP COLUMN audit_problems, DROP COLUMN audited_at;
DROP TABLE pushfleet.retention;

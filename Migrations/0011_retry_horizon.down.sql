ALTER TABLE pushfleet.job DROP COLUMN first_attempt_at;
ALTER TABLE pushfleet.retry DROP COLUMN first_attempt_at;
ALTER TABLE pushfleet.run DROP CONSTRAINT run_retry_horizon, DROP COLUMN retry_horizon;

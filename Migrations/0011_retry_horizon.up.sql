-- why: retries end at a horizon counted from the job's first attempt
-- locks: run, retry and job exclusively, for as long as their definitions change
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.run
    ADD COLUMN retry_horizon interval NOT NULL DEFAULT '60 min',
    ADD CONSTRAINT run_retry_horizon CHECK (retry_horizon > interval '0');
COMMENT ON COLUMN pushfleet.run.retry_horizon IS 'No attempt later than this after a job''s first.';
ALTER TABLE pushfleet.retry ADD COLUMN first_attempt_at timestamptz;
ALTER TABLE pushfleet.job ADD COLUMN first_attempt_at timestamptz;
COMMENT ON COLUMN pushfleet.job.first_attempt_at IS 'NULL: none was charged before it came into this batch';

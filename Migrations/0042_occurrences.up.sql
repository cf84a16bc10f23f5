-- why: recurring campaigns: when the next occurrence is due, and what was planned before each run
-- locks: campaign and run, exclusively, for a moment: columns without a rewrite
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.campaign ADD COLUMN next_at timestamptz;
COMMENT ON COLUMN pushfleet.campaign.next_at IS 'Recurring campaigns: the occurrence that has no run yet. NULL = none.';
CREATE INDEX campaign_next ON pushfleet.campaign (next_at) WHERE next_at IS NOT NULL AND state = 1;

ALTER TABLE pushfleet.run ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE pushfleet.run ADD COLUMN plan jsonb;
COMMENT ON COLUMN pushfleet.run.is_test IS 'Sent to named subscribers for a look: left out of reports.';
COMMENT ON COLUMN pushfleet.run.plan IS 'What was expected when the run was made; reports set the result beside it.';
COMMENT ON COLUMN pushfleet.run.expand_at IS
    'When its expansion may begin: before its earliest batch is due. infinity = when the run before it is over.';
CREATE INDEX run_queued ON pushfleet.run (campaign_id) WHERE expand_at = 'infinity' AND status = 1;

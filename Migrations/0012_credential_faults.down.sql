ALTER TABLE pushfleet.credential DROP COLUMN state_detail, DROP COLUMN fault_fingerprint, DROP COLUMN revision;

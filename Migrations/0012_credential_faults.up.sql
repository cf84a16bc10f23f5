-- why: a credential that was paused opens again by itself when its file changes
-- locks: credential exclusively, for as long as its definition changes
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.credential
    ADD COLUMN revision int NOT NULL DEFAULT 1,
    ADD COLUMN fault_fingerprint bytea,
    ADD COLUMN state_detail text;
COMMENT ON COLUMN pushfleet.credential.revision IS 'Raised when it opens again: workers then read its file anew.';
COMMENT ON COLUMN pushfleet.credential.fault_fingerprint IS
    'Half a SHA-256 of the file that proved useless; stays until another one works or an operator resumes.';
COMMENT ON COLUMN pushfleet.credential.state_detail IS 'What is wrong with it, for people; never a secret.';

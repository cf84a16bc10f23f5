-- why: a campaign may go to each user's newest device alone
-- locks: run, exclusively, for a moment: a column with a constant default
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.run ADD COLUMN one_per_user boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pushfleet.run.one_per_user IS
    'Of a user''s devices in the audience that can be sent to, the one that registered last.';
INSERT INTO pushfleet.reason (code, name) VALUES (45, 'not_newest');

DROP FUNCTION pushfleet.accept_tokens(text, text, timestamptz, timestamptz);
DROP FUNCTION pushfleet.restore_tokens(text, text, timestamptz, timestamptz);
DROP TABLE pushfleet.token_wave;
DROP TABLE pushfleet.token_change;
DROP TABLE pushfleet.answer_minute;
DELETE FROM pushfleet.reason WHERE code IN (15, 16);
ALTER TABLE pushfleet.credential DROP CONSTRAINT credential_wave, DROP COLUMN wave_least, DROP COLUMN wave_share;

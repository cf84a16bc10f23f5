DELETE FROM pushfleet.reason WHERE code BETWEEN 400 AND 423;
ALTER TABLE pushfleet.subscriber DROP COLUMN vapid_credential;

DELETE FROM pushfleet.reason WHERE code = 45;
ALTER TABLE pushfleet.run DROP COLUMN one_per_user;

DROP TABLE pushfleet.segment;
ALTER TABLE pushfleet.run DROP COLUMN audience;

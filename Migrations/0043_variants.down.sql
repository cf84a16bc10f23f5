DELETE FROM pushfleet.reason WHERE code = 40;
DROP FUNCTION pushfleet.test_place(bigint, text, bigint);
ALTER TABLE pushfleet.batch DROP COLUMN variant;
ALTER TABLE pushfleet.run DROP COLUMN variant_versions;
ALTER TABLE pushfleet.run DROP COLUMN variant_bounds;
ALTER TABLE pushfleet.content_version DROP COLUMN variant_name;
ALTER TABLE pushfleet.content_version DROP COLUMN variant;
ALTER TABLE pushfleet.content_version DROP COLUMN revision;

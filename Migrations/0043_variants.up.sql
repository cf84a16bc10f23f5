-- why: tests of several messages against each other and against silence, and edits of what a run says
-- locks: batch, content_version and run, exclusively, for a moment: columns without a rewrite
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.content_version ADD COLUMN revision int NOT NULL DEFAULT 1;
ALTER TABLE pushfleet.content_version ADD COLUMN variant smallint;
ALTER TABLE pushfleet.content_version ADD COLUMN variant_name text;
COMMENT ON COLUMN pushfleet.content_version.revision IS 'Counts the edits of a campaign, from 1.';
COMMENT ON COLUMN pushfleet.content_version.variant IS 'Place among the campaign''s variants, from 1; NULL = no test.';

ALTER TABLE pushfleet.run ADD COLUMN variant_bounds float8[];
ALTER TABLE pushfleet.run ADD COLUMN variant_versions bigint[];
COMMENT ON COLUMN pushfleet.run.variant_bounds IS
    'Who gets which variant: the place of the hash of campaign and user, in 0..1, among these bounds. Below the first: '
    'held out. NULL = no test.';
COMMENT ON COLUMN pushfleet.run.variant_versions IS 'What each variant says, by its place; in place of content_version.';

ALTER TABLE pushfleet.batch ADD COLUMN variant smallint;
COMMENT ON COLUMN pushfleet.batch.variant IS 'Of all its jobs; NULL = no test.';

-- Where campaign and user fall in 0..1, for good: 52 bits of an MD5, which any language computes alike.
CREATE FUNCTION pushfleet.test_place(campaign bigint, user_id text, subscriber bigint) RETURNS float8
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT ('x' || left(md5(campaign || coalesce(':u:' || user_id, ':s:' || subscriber)), 13))::bit(52)::bigint
        / 4503599627370496::float8
$$;

INSERT INTO pushfleet.reason (code, name) VALUES (40, 'holdout');

COMMENT ON COLUMN pushfleet.batch.tag IS 'Place in its pair''s order, in jobs divided by the run''s weight.';

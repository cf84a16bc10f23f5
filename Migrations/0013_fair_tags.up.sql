-- why: tags count thousandths of a job, so that weights hold for small batches too
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

COMMENT ON COLUMN pushfleet.batch.tag IS
    'Place in its pair''s order, in thousandths of a job divided by the run''s weight.';

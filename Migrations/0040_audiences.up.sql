-- why: whom a run is for, as checked JSON that each page compiles, and audiences that are kept under a name
-- locks: run, exclusively, for a moment: a column with a constant default
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.run ADD COLUMN audience jsonb NOT NULL DEFAULT '{"all": true}';
COMMENT ON COLUMN pushfleet.run.audience IS
    'Checked, with segments written out as they were when the run was made. A page compares it with what it compiled.';

CREATE TABLE pushfleet.segment (
    app_id bigint NOT NULL,
    name text NOT NULL,
    audience jsonb NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, name)
);
COMMENT ON TABLE pushfleet.segment IS 'Audiences under a name. A run keeps what a segment was when the run was made.';

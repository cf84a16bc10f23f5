-- A classic row-per-job queue, as good as it gets by hand: one row per job, partial index on what is ready, SKIP LOCKED.
CREATE TABLE classic (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subscriber_id bigint NOT NULL,
    run_id bigint NOT NULL,
    due_at timestamptz NOT NULL DEFAULT now(),
    state smallint NOT NULL DEFAULT 0,
    attempt smallint NOT NULL DEFAULT 0,
    holder int,
    lease_until timestamptz
) WITH (fillfactor = 45);
CREATE INDEX classic_ready ON classic (due_at, id) WHERE state = 0;
CREATE INDEX classic_held ON classic (holder) WHERE state = 1;
CREATE TABLE classic_result (
    job_id bigint NOT NULL, run_id bigint NOT NULL, subscriber_id bigint NOT NULL, outcome smallint NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
);

-- why: campaigns, what they say, their runs, and how far each run's expansion is
-- locks: none; everything here is new
-- safe with workers running: yes
-- lowest binary: 1

CREATE TABLE pushfleet.campaign (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id bigint NOT NULL,
    name text NOT NULL,
    idempotency_key text,
    body_hash bytea NOT NULL,
    body jsonb NOT NULL,
    state smallint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (app_id, idempotency_key)
);
COMMENT ON COLUMN pushfleet.campaign.body_hash IS 'SHA-256 of the body: the same key with another body is refused.';
COMMENT ON COLUMN pushfleet.campaign.state IS '1 active, 2 refused, 3 over';

-- What a run says, frozen: bound to a batch at its first claim.
CREATE TABLE pushfleet.content_version (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign_id bigint,
    message jsonb NOT NULL,
    delivery jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX content_version_by_campaign ON pushfleet.content_version (campaign_id);

-- Definition and status of one occurrence: written by control only, so that control never waits for an expansion.
CREATE TABLE pushfleet.run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app_id bigint NOT NULL,
    campaign_id bigint,
    occurrence_at timestamptz,
    status smallint NOT NULL DEFAULT 1,
    lane smallint NOT NULL DEFAULT 1,
    standing boolean NOT NULL DEFAULT false,
    weight int NOT NULL DEFAULT 8,
    in_doubt smallint NOT NULL DEFAULT 0,
    batch_size smallint NOT NULL DEFAULT 500,
    announce_window smallint NOT NULL DEFAULT 5000,
    max_attempts smallint NOT NULL DEFAULT 8,
    rate int,
    content_version bigint NOT NULL DEFAULT 1,
    due_at timestamptz NOT NULL DEFAULT now(),
    local_at timestamp,
    expand_at timestamptz NOT NULL DEFAULT now(),
    ttl interval NOT NULL DEFAULT '28 days',
    audience_as_of timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now(),
    closed_at timestamptz,
    -- One occurrence, one run, whoever competes.
    UNIQUE (campaign_id, occurrence_at),
    CONSTRAINT run_status CHECK (status IN (1, 2, 3, 4)),
    CONSTRAINT run_lane CHECK (lane IN (0, 1)),
    CONSTRAINT run_weight CHECK (weight BETWEEN 1 AND 1000),
    CONSTRAINT run_in_doubt CHECK (in_doubt IN (0, 1)),
    CONSTRAINT run_batch_size CHECK (batch_size BETWEEN 1 AND 5000),
    CONSTRAINT run_announce_window CHECK (announce_window > 0),
    CONSTRAINT run_rate CHECK (rate > 0),
    CONSTRAINT run_ttl CHECK (ttl <= interval '28 days')
);
CREATE INDEX run_live ON pushfleet.run (id) WHERE status = 1;
CREATE INDEX run_open ON pushfleet.run (status) WHERE closed_at IS NULL;
COMMENT ON COLUMN pushfleet.run.status IS '1 running, 2 paused, 3 cancelled, 4 done';
COMMENT ON COLUMN pushfleet.run.lane IS '0 transactional, 1 campaign';
COMMENT ON COLUMN pushfleet.run.standing IS 'The transactional lane''s run of an app and day: filled by collect.';
COMMENT ON COLUMN pushfleet.run.in_doubt IS '0 retry, 1 assume_sent';
COMMENT ON COLUMN pushfleet.run.announce_window IS 'Ordinals announced at a time: 100 under assume_sent.';
COMMENT ON COLUMN pushfleet.run.local_at IS 'Wall time in each subscriber''s zone; due_at is not used then.';
COMMENT ON COLUMN pushfleet.run.expand_at IS 'When its expansion may begin: before its earliest batch is due.';
COMMENT ON COLUMN pushfleet.run.audience_as_of IS 'Only who had registered by then is targeted.';

-- One row per run and shard: the expansion's memory.
CREATE TABLE pushfleet.run_progress (
    shard smallint NOT NULL,
    run_id bigint NOT NULL,
    last_subscriber_id bigint NOT NULL DEFAULT 0,
    targeted bigint NOT NULL DEFAULT 0,
    expanded boolean NOT NULL DEFAULT false,
    PRIMARY KEY (shard, run_id)
) WITH (fillfactor = 50);
CREATE INDEX run_progress_by_run ON pushfleet.run_progress (run_id);
CREATE INDEX run_progress_unexpanded ON pushfleet.run_progress (shard, run_id) WHERE NOT expanded;
COMMENT ON COLUMN pushfleet.run_progress.targeted IS
    'Counted from each page''s selection, never from what it inserted.';

-- Written when a run closes, in a row that cannot be wrong; then its batches may go.
CREATE TABLE pushfleet.run_total (
    run_id bigint PRIMARY KEY,
    targeted bigint NOT NULL,
    delivered bigint NOT NULL,
    failed bigint NOT NULL,
    unregistered bigint NOT NULL,
    expired bigint NOT NULL,
    cancelled bigint NOT NULL,
    skipped bigint NOT NULL,
    in_doubt bigint NOT NULL,
    repeat_bound bigint NOT NULL,
    CONSTRAINT run_total_adds_up CHECK (
        targeted = delivered + failed + unregistered + expired + cancelled + skipped + in_doubt
    )
);

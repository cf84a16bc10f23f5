-- why: evidence against addresses, kept and judged before anything is retired
-- locks: pushfleet.credential ACCESS EXCLUSIVE for an instant, no rewrite
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.credential
    ADD COLUMN wave_share real NOT NULL DEFAULT 0.2,
    ADD COLUMN wave_least int NOT NULL DEFAULT 20,
    ADD CONSTRAINT credential_wave CHECK (wave_share > 0 AND wave_share <= 1 AND wave_least > 0);
COMMENT ON COLUMN pushfleet.credential.wave_share IS
    'From this share of the answers of one or five minutes on, those against addresses are a wave.';
COMMENT ON COLUMN pushfleet.credential.wave_least IS 'Fewer answers against addresses are no wave, whatever their share.';

INSERT INTO pushfleet.reason (code, name)
VALUES (15, 'unregistered_wave'), (16, 'wrong_project_wave');

-- What providers answered, by minute. Each worker has rows of its own: they are counted under no lock.
CREATE TABLE pushfleet.answer_minute (
    credential_id bigint NOT NULL,
    at_minute timestamptz NOT NULL,
    worker_id uuid NOT NULL,
    answers int NOT NULL,
    gone int NOT NULL,
    foreign_to_us int NOT NULL,
    PRIMARY KEY (credential_id, at_minute, worker_id)
) WITH (fillfactor = 50);
CREATE INDEX answer_minute_by_time ON pushfleet.answer_minute (at_minute);
COMMENT ON COLUMN pushfleet.answer_minute.gone IS 'Answers that called the address dead.';
COMMENT ON COLUMN pushfleet.answer_minute.foreign_to_us IS 'Answers that called it another project''s or key''s.';

-- Each move of an address from one state to another by an answer: the evidence, and how to take it back.
CREATE TABLE pushfleet.token_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shard smallint NOT NULL,
    subscriber_id bigint NOT NULL,
    app_id bigint NOT NULL,
    credential_id bigint NOT NULL,
    run_id bigint NOT NULL,
    address_version int NOT NULL,
    evidence smallint NOT NULL,
    reason smallint NOT NULL,
    status smallint,
    gone_since timestamptz,
    from_state smallint NOT NULL,
    to_state smallint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    verdict smallint NOT NULL,
    verdict_at timestamptz,
    CONSTRAINT token_change_verdict CHECK (verdict BETWEEN 0 AND 4)
);
CREATE INDEX token_change_by_subscriber ON pushfleet.token_change (shard, subscriber_id);
CREATE INDEX token_change_by_credential ON pushfleet.token_change (credential_id, at);
CREATE INDEX token_change_open ON pushfleet.token_change (at) WHERE verdict = 0;
CREATE INDEX token_change_over ON pushfleet.token_change (verdict_at) WHERE verdict IN (1, 2, 3);
COMMENT ON COLUMN pushfleet.token_change.address_version IS 'Of the address that was used: compared before each move.';
COMMENT ON COLUMN pushfleet.token_change.evidence IS '1 gone, 2 foreign, 3 suspicious, 4 sound';
COMMENT ON COLUMN pushfleet.token_change.gone_since IS
    'By the provider''s clock, else when the request began. Who registered then or later stayed.';
COMMENT ON COLUMN pushfleet.token_change.verdict IS
    '0 waits to be judged, 1 stands, 2 taken back, 3 void: the address moved on, 4 held: part of a wave';

-- Too large a share of a credential's answers spoke against addresses: all of it is held until somebody decides.
CREATE TABLE pushfleet.token_wave (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    credential_id bigint NOT NULL,
    evidence smallint NOT NULL,
    from_at timestamptz NOT NULL,
    to_at timestamptz NOT NULL,
    answers bigint NOT NULL,
    against bigint NOT NULL,
    paused_runs bigint[] NOT NULL DEFAULT '{}',
    state smallint NOT NULL DEFAULT 0,
    opened_at timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    CONSTRAINT token_wave_evidence CHECK (evidence IN (1, 2)),
    CONSTRAINT token_wave_state CHECK (state IN (0, 1, 2))
);
CREATE UNIQUE INDEX token_wave_open ON pushfleet.token_wave (credential_id, evidence) WHERE state = 0;
COMMENT ON COLUMN pushfleet.token_wave.answers IS 'Of the worst minutes: all, and those against addresses.';
COMMENT ON COLUMN pushfleet.token_wave.paused_runs IS 'Each was paused once; who resumes it is obeyed.';
COMMENT ON COLUMN pushfleet.token_wave.state IS '0 open, 1 taken back, 2 accepted';

-- Takes back what answers of this credential did to addresses from one instant to the other, and closes its waves there.
-- An address that changed or registered anew since is left alone.
CREATE FUNCTION pushfleet.restore_tokens(app text, credential text, from_at timestamptz, to_at timestamptz)
RETURNS bigint
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH chosen AS MATERIALIZED (
        SELECT c.id
        FROM pushfleet.credential c
        JOIN pushfleet.app a ON a.id = c.app_id
        WHERE a.name = restore_tokens.app AND c.name = restore_tokens.credential
    ),
    undone AS (
        UPDATE pushfleet.token_change t
        SET verdict = 2, verdict_at = now()
        FROM chosen
        WHERE t.credential_id = chosen.id
            AND t.at >= restore_tokens.from_at
            AND t.at < restore_tokens.to_at
            AND t.verdict IN (0, 1, 4)
            AND t.to_state <> 1
        RETURNING t.id, t.shard, t.subscriber_id, t.address_version, t.from_state
    ),
    first_state AS MATERIALIZED (
        SELECT DISTINCT ON (undone.shard, undone.subscriber_id) undone.shard, undone.subscriber_id,
            undone.address_version, undone.from_state
        FROM undone
        ORDER BY undone.shard, undone.subscriber_id, undone.id
    ),
    closed AS (
        UPDATE pushfleet.token_wave w
        SET state = 1, decided_at = now()
        FROM chosen
        WHERE w.credential_id = chosen.id
            AND w.state = 0
            AND w.from_at < restore_tokens.to_at
            AND w.to_at > restore_tokens.from_at
    ),
    restored AS (
        UPDATE pushfleet.subscriber s
        SET state = first_state.from_state, state_since = now(), evidence = NULL
        FROM first_state
        WHERE s.shard = first_state.shard
            AND s.id = first_state.subscriber_id
            AND s.address_version = first_state.address_version
            AND s.state <> 1
        RETURNING 1
    )
    SELECT count(*) FROM restored
$$;
COMMENT ON FUNCTION pushfleet.restore_tokens IS
    'Takes back what answers did to addresses from one instant to the other; how many are back.';

-- Lets what a wave holds stand: those addresses are dead.
CREATE FUNCTION pushfleet.accept_tokens(app text, credential text, from_at timestamptz, to_at timestamptz)
RETURNS bigint
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
    WITH chosen AS MATERIALIZED (
        SELECT c.id
        FROM pushfleet.credential c
        JOIN pushfleet.app a ON a.id = c.app_id
        WHERE a.name = accept_tokens.app AND c.name = accept_tokens.credential
    ),
    accepted AS (
        UPDATE pushfleet.token_change t
        SET verdict = 1, verdict_at = now()
        FROM chosen
        WHERE t.credential_id = chosen.id
            AND t.at >= accept_tokens.from_at
            AND t.at < accept_tokens.to_at
            AND t.verdict IN (0, 4)
            AND t.evidence = 1
        RETURNING t.shard, t.subscriber_id, t.address_version, t.at
    ),
    closed AS (
        UPDATE pushfleet.token_wave w
        SET state = 2, decided_at = now()
        FROM chosen
        WHERE w.credential_id = chosen.id
            AND w.state = 0
            AND w.from_at < accept_tokens.to_at
            AND w.to_at > accept_tokens.from_at
    ),
    retired AS (
        UPDATE pushfleet.subscriber s
        SET state = 3, state_since = now()
        FROM accepted
        WHERE s.shard = accepted.shard
            AND s.id = accepted.subscriber_id
            AND s.address_version = accepted.address_version
            AND s.state = 5
            AND s.state_since = accepted.at
        RETURNING 1
    )
    SELECT count(*) FROM retired
$$;
COMMENT ON FUNCTION pushfleet.accept_tokens IS 'Retires what a wave holds from one instant to the other; how many.';

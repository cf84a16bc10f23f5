-- why: what became of each job, what was answered on the way, and the names of the reasons
-- locks: none; everything here is new
-- safe with workers running: yes
-- lowest binary: 1

-- One row for each job: its outcome. Partitioned by UTC day; ensure_days makes the partitions.
CREATE TABLE pushfleet.delivery (
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    sent_at timestamptz,
    content_version bigint,
    address_version int,
    answer_ms int,
    shard smallint NOT NULL,
    ordinal smallint NOT NULL,
    outcome smallint NOT NULL,
    attempts smallint NOT NULL,
    status smallint,
    reason smallint NOT NULL DEFAULT 0,
    variant smallint,
    provider_id text,
    language text,
    CONSTRAINT delivery_outcome CHECK (outcome BETWEEN 1 AND 7)
) PARTITION BY RANGE (at);
COMMENT ON COLUMN pushfleet.delivery.outcome IS
    '1 delivered (the provider accepted it), 2 failed, 3 unregistered, 4 expired, 5 cancelled, 6 skipped, 7 in_doubt';
COMMENT ON COLUMN pushfleet.delivery.sent_at IS 'When its last request began; NULL = none did, or it is not known';
COMMENT ON COLUMN pushfleet.delivery.answer_ms IS 'From the begin of the request to the answer.';
COMMENT ON COLUMN pushfleet.delivery.status IS 'The provider''s; NULL = no answer';
COMMENT ON COLUMN pushfleet.delivery.reason IS 'See pushfleet.reason.';
COMMENT ON COLUMN pushfleet.delivery.language IS 'The language served, as the author spelled it.';

-- Answers that were not final.
CREATE TABLE pushfleet.attempt (
    run_id bigint NOT NULL,
    number bigint NOT NULL,
    subscriber_id bigint NOT NULL,
    batch_id bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    answer_ms int,
    shard smallint NOT NULL,
    attempts smallint NOT NULL,
    status smallint,
    reason smallint NOT NULL,
    doubtful boolean NOT NULL
) PARTITION BY RANGE (at);

-- Names of the codes in the columns called reason: ours below 100, the network's from 100, then a hundred per provider.
CREATE TABLE pushfleet.reason (
    code smallint PRIMARY KEY,
    name text NOT NULL UNIQUE
);
INSERT INTO pushfleet.reason (code, name)
VALUES
    (0, 'none'),
    (1, 'not_active'),
    (2, 'no_route'),
    (3, 'erased'),
    (4, 'retries_exhausted'),
    (5, 'poison'),
    (6, 'lost_holder'),
    (7, 'web_silent'),
    (8, 'credential_unusable'),
    (20, 'rendered_empty'),
    (21, 'rendered_url_invalid'),
    (22, 'payload_too_large'),
    (23, 'content_invalid'),
    (100, 'not_sent'),
    (101, 'timed_out'),
    (102, 'connection_lost'),
    (103, 'stream_reset'),
    (200, 'fcm_unspecified'),
    (201, 'fcm_invalid_argument'),
    (202, 'fcm_invalid_token'),
    (203, 'fcm_unregistered'),
    (204, 'fcm_not_found'),
    (205, 'fcm_sender_id_mismatch'),
    (206, 'fcm_permission_denied'),
    (207, 'fcm_third_party_auth'),
    (208, 'fcm_unauthenticated'),
    (209, 'fcm_quota_exceeded'),
    (210, 'fcm_internal'),
    (211, 'fcm_unavailable'),
    (212, 'fcm_proxy_error'),
    (213, 'fcm_unexpected_status'),
    (214, 'fcm_access_token_refused'),
    (215, 'fcm_apns_rejected'),
    (216, 'fcm_device_quota_exceeded');

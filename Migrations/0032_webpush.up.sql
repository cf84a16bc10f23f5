-- why: Web Push: the reasons of its services, and which VAPID key each subscription was made for
-- locks: subscriber, ACCESS EXCLUSIVE, for as long as adding an empty column takes
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.subscriber ADD COLUMN vapid_credential bigint;
COMMENT ON COLUMN pushfleet.subscriber.vapid_credential IS
    'Web Push: the credential whose key the browser subscribed with; NULL = the newest that the app has.';

INSERT INTO pushfleet.reason (code, name)
VALUES
    (400, 'webpush_bad_request'),
    (401, 'webpush_key_mismatch'),
    (402, 'webpush_unauthorized'),
    (403, 'webpush_forbidden'),
    (404, 'webpush_not_found'),
    (405, 'webpush_gone'),
    (406, 'webpush_bad_token'),
    (407, 'webpush_bad_path'),
    (408, 'webpush_method_not_allowed'),
    (409, 'webpush_too_large'),
    (410, 'webpush_too_many_requests'),
    (411, 'webpush_channel_throttled'),
    (412, 'webpush_dropped_by_service'),
    (413, 'webpush_redirected'),
    (414, 'webpush_domain_blocked'),
    (415, 'webpush_internal'),
    (416, 'webpush_unavailable'),
    (417, 'webpush_proxy_error'),
    (418, 'webpush_connection_over'),
    (419, 'webpush_unexpected_status'),
    (420, 'webpush_keys_invalid'),
    (421, 'webpush_endpoint_refused'),
    (422, 'webpush_unreachable'),
    (423, 'webpush_crowded');

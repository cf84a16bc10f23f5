-- why: names of the reasons that APNs gives
-- locks: pushfleet.reason, row locks of new rows
-- safe with workers running: yes
-- lowest binary: 1

INSERT INTO pushfleet.reason (code, name)
VALUES
    (300, 'apns_bad_device_token'),
    (301, 'apns_unregistered'),
    (302, 'apns_expired_token'),
    (303, 'apns_gone'),
    (304, 'apns_device_token_not_for_topic'),
    (305, 'apns_bad_collapse_id'),
    (306, 'apns_bad_expiration_date'),
    (307, 'apns_bad_message_id'),
    (308, 'apns_bad_priority'),
    (309, 'apns_invalid_push_type'),
    (310, 'apns_missing_device_token'),
    (311, 'apns_payload_too_large'),
    (312, 'apns_bad_request'),
    (313, 'apns_bad_topic'),
    (314, 'apns_topic_disallowed'),
    (315, 'apns_missing_topic'),
    (316, 'apns_duplicate_headers'),
    (317, 'apns_payload_empty'),
    (318, 'apns_bad_path'),
    (319, 'apns_method_not_allowed'),
    (320, 'apns_bad_certificate'),
    (321, 'apns_bad_certificate_environment'),
    (322, 'apns_expired_provider_token'),
    (323, 'apns_forbidden'),
    (324, 'apns_invalid_provider_token'),
    (325, 'apns_missing_provider_token'),
    (326, 'apns_unrelated_key_id'),
    (327, 'apns_bad_environment_key_id'),
    (328, 'apns_unexpected_status'),
    (329, 'apns_too_many_provider_token_updates'),
    (330, 'apns_too_many_requests'),
    (331, 'apns_internal_server_error'),
    (332, 'apns_service_unavailable'),
    (333, 'apns_shutdown'),
    (334, 'apns_idle_timeout'),
    (335, 'apns_proxy_error'),
    (336, 'apns_provider_token_awaited');

/// Why a job ended as it did, or why an attempt was not final. Raw values stand in `reason` columns and in the table
/// `reason`, whose names they share: ours below 100, the network's from 100, each provider's in a hundred of its own.
package enum Reason: Int16, CaseIterable, Sendable {
    case none = 0
    // Decided by the queue.
    case notActive = 1
    case noRoute = 2
    case erased = 3
    case retriesExhausted = 4
    case poison = 5
    case lostHolder = 6
    case webSilent = 7
    case credentialUnusable = 8
    /// Of runs: too many answers spoke against addresses at once.
    case unregisteredWave = 15
    case wrongProjectWave = 16
    // Decided by the renderer, before anything leaves.
    case renderedEmpty = 20
    case renderedURLInvalid = 21
    case payloadTooLarge = 22
    case contentInvalid = 23
    // Decided by the expansion.
    case holdout = 40
    case noTimeZone = 41
    case hourPast = 42
    /// Decided by the expansion, and once more before it is sent.
    case frequencyCap = 43
    case quietHours = 44
    case notNewest = 45
    // The network's.
    case notSent = 100
    case timedOut = 101
    case connectionLost = 102
    case streamReset = 103
    // FCM's (reference: fcm.md §8).
    case fcmUnspecified = 200
    case fcmInvalidArgument = 201
    case fcmInvalidToken = 202
    case fcmUnregistered = 203
    case fcmNotFound = 204
    case fcmSenderIDMismatch = 205
    case fcmPermissionDenied = 206
    case fcmThirdPartyAuth = 207
    case fcmUnauthenticated = 208
    case fcmQuotaExceeded = 209
    case fcmInternal = 210
    case fcmUnavailable = 211
    case fcmProxyError = 212
    case fcmUnexpectedStatus = 213
    case fcmAccessTokenRefused = 214
    case fcmAPNsRejected = 215
    /// 429 that concerns one device, not the route.
    case fcmDeviceQuotaExceeded = 216
    // APNs' (reference: apns.md §5).
    case apnsBadDeviceToken = 300
    case apnsUnregistered = 301
    case apnsExpiredToken = 302
    /// 410 for a reason that we do not know: the job is over, the address stays.
    case apnsGone = 303
    case apnsDeviceTokenNotForTopic = 304
    case apnsBadCollapseID = 305
    case apnsBadExpirationDate = 306
    case apnsBadMessageID = 307
    case apnsBadPriority = 308
    case apnsInvalidPushType = 309
    case apnsMissingDeviceToken = 310
    case apnsPayloadTooLarge = 311
    case apnsBadRequest = 312
    case apnsBadTopic = 313
    case apnsTopicDisallowed = 314
    case apnsMissingTopic = 315
    case apnsDuplicateHeaders = 316
    case apnsPayloadEmpty = 317
    case apnsBadPath = 318
    case apnsMethodNotAllowed = 319
    case apnsBadCertificate = 320
    case apnsBadCertificateEnvironment = 321
    case apnsExpiredProviderToken = 322
    case apnsForbidden = 323
    case apnsInvalidProviderToken = 324
    case apnsMissingProviderToken = 325
    case apnsUnrelatedKeyID = 326
    case apnsBadEnvironmentKeyID = 327
    case apnsUnexpectedStatus = 328
    case apnsTooManyProviderTokenUpdates = 329
    /// 429 that concerns one device, not the route.
    case apnsTooManyRequests = 330
    case apnsInternalServerError = 331
    case apnsServiceUnavailable = 332
    case apnsShutdown = 333
    case apnsIdleTimeout = 334
    case apnsProxyError = 335
    /// Nothing leaves before the fleet has a provider token.
    case apnsProviderTokenAwaited = 336
    // Web Push services' (reference: webpush.md §5, §6).
    case webpushBadRequest = 400
    case webpushKeyMismatch = 401
    case webpushUnauthorized = 402
    case webpushForbidden = 403
    case webpushNotFound = 404
    case webpushGone = 405
    case webpushBadToken = 406
    case webpushBadPath = 407
    case webpushMethodNotAllowed = 408
    case webpushTooLarge = 409
    case webpushTooManyRequests = 410
    case webpushChannelThrottled = 411
    case webpushDroppedByService = 412
    case webpushRedirected = 413
    case webpushDomainBlocked = 414
    case webpushInternal = 415
    case webpushUnavailable = 416
    case webpushProxyError = 417
    /// The connection was ended for its age; the request was not looked at.
    case webpushConnectionOver = 418
    case webpushUnexpectedStatus = 419
    /// The subscription's keys cannot be sealed for.
    case webpushKeysInvalid = 420
    /// The endpoint's host, port or address is one that nothing is sent to.
    case webpushEndpointRefused = 421
    /// No connection to the endpoint's host could be made.
    case webpushUnreachable = 422
    /// More hosts at once than connections are kept for.
    case webpushCrowded = 423

    /// As users see it: in SQL, logs, metrics and reports.
    package var name: String {
        switch self {
        case .none: "none"
        case .notActive: "not_active"
        case .noRoute: "no_route"
        case .erased: "erased"
        case .retriesExhausted: "retries_exhausted"
        case .poison: "poison"
        case .lostHolder: "lost_holder"
        case .webSilent: "web_silent"
        case .credentialUnusable: "credential_unusable"
        case .unregisteredWave: "unregistered_wave"
        case .wrongProjectWave: "wrong_project_wave"
        case .renderedEmpty: "rendered_empty"
        case .renderedURLInvalid: "rendered_url_invalid"
        case .payloadTooLarge: "payload_too_large"
        case .contentInvalid: "content_invalid"
        case .holdout: "holdout"
        case .noTimeZone: "no_time_zone"
        case .hourPast: "hour_past"
        case .frequencyCap: "frequency_cap"
        case .quietHours: "quiet_hours"
        case .notNewest: "not_newest"
        case .notSent: "not_sent"
        case .timedOut: "timed_out"
        case .connectionLost: "connection_lost"
        case .streamReset: "stream_reset"
        case .fcmUnspecified: "fcm_unspecified"
        case .fcmInvalidArgument: "fcm_invalid_argument"
        case .fcmInvalidToken: "fcm_invalid_token"
        case .fcmUnregistered: "fcm_unregistered"
        case .fcmNotFound: "fcm_not_found"
        case .fcmSenderIDMismatch: "fcm_sender_id_mismatch"
        case .fcmPermissionDenied: "fcm_permission_denied"
        case .fcmThirdPartyAuth: "fcm_third_party_auth"
        case .fcmUnauthenticated: "fcm_unauthenticated"
        case .fcmQuotaExceeded: "fcm_quota_exceeded"
        case .fcmInternal: "fcm_internal"
        case .fcmUnavailable: "fcm_unavailable"
        case .fcmProxyError: "fcm_proxy_error"
        case .fcmUnexpectedStatus: "fcm_unexpected_status"
        case .fcmAccessTokenRefused: "fcm_access_token_refused"
        case .fcmAPNsRejected: "fcm_apns_rejected"
        case .fcmDeviceQuotaExceeded: "fcm_device_quota_exceeded"
        case .apnsBadDeviceToken: "apns_bad_device_token"
        case .apnsUnregistered: "apns_unregistered"
        case .apnsExpiredToken: "apns_expired_token"
        case .apnsGone: "apns_gone"
        case .apnsDeviceTokenNotForTopic: "apns_device_token_not_for_topic"
        case .apnsBadCollapseID: "apns_bad_collapse_id"
        case .apnsBadExpirationDate: "apns_bad_expiration_date"
        case .apnsBadMessageID: "apns_bad_message_id"
        case .apnsBadPriority: "apns_bad_priority"
        case .apnsInvalidPushType: "apns_invalid_push_type"
        case .apnsMissingDeviceToken: "apns_missing_device_token"
        case .apnsPayloadTooLarge: "apns_payload_too_large"
        case .apnsBadRequest: "apns_bad_request"
        case .apnsBadTopic: "apns_bad_topic"
        case .apnsTopicDisallowed: "apns_topic_disallowed"
        case .apnsMissingTopic: "apns_missing_topic"
        case .apnsDuplicateHeaders: "apns_duplicate_headers"
        case .apnsPayloadEmpty: "apns_payload_empty"
        case .apnsBadPath: "apns_bad_path"
        case .apnsMethodNotAllowed: "apns_method_not_allowed"
        case .apnsBadCertificate: "apns_bad_certificate"
        case .apnsBadCertificateEnvironment: "apns_bad_certificate_environment"
        case .apnsExpiredProviderToken: "apns_expired_provider_token"
        case .apnsForbidden: "apns_forbidden"
        case .apnsInvalidProviderToken: "apns_invalid_provider_token"
        case .apnsMissingProviderToken: "apns_missing_provider_token"
        case .apnsUnrelatedKeyID: "apns_unrelated_key_id"
        case .apnsBadEnvironmentKeyID: "apns_bad_environment_key_id"
        case .apnsUnexpectedStatus: "apns_unexpected_status"
        case .apnsTooManyProviderTokenUpdates: "apns_too_many_provider_token_updates"
        case .apnsTooManyRequests: "apns_too_many_requests"
        case .apnsInternalServerError: "apns_internal_server_error"
        case .apnsServiceUnavailable: "apns_service_unavailable"
        case .apnsShutdown: "apns_shutdown"
        case .apnsIdleTimeout: "apns_idle_timeout"
        case .apnsProxyError: "apns_proxy_error"
        case .apnsProviderTokenAwaited: "apns_provider_token_awaited"
        case .webpushBadRequest: "webpush_bad_request"
        case .webpushKeyMismatch: "webpush_key_mismatch"
        case .webpushUnauthorized: "webpush_unauthorized"
        case .webpushForbidden: "webpush_forbidden"
        case .webpushNotFound: "webpush_not_found"
        case .webpushGone: "webpush_gone"
        case .webpushBadToken: "webpush_bad_token"
        case .webpushBadPath: "webpush_bad_path"
        case .webpushMethodNotAllowed: "webpush_method_not_allowed"
        case .webpushTooLarge: "webpush_too_large"
        case .webpushTooManyRequests: "webpush_too_many_requests"
        case .webpushChannelThrottled: "webpush_channel_throttled"
        case .webpushDroppedByService: "webpush_dropped_by_service"
        case .webpushRedirected: "webpush_redirected"
        case .webpushDomainBlocked: "webpush_domain_blocked"
        case .webpushInternal: "webpush_internal"
        case .webpushUnavailable: "webpush_unavailable"
        case .webpushProxyError: "webpush_proxy_error"
        case .webpushConnectionOver: "webpush_connection_over"
        case .webpushUnexpectedStatus: "webpush_unexpected_status"
        case .webpushKeysInvalid: "webpush_keys_invalid"
        case .webpushEndpointRefused: "webpush_endpoint_refused"
        case .webpushUnreachable: "webpush_unreachable"
        case .webpushCrowded: "webpush_crowded"
        }
    }
}

extension Reason {
    /// A quota of one device: the route is not to blame and need not slow down.
    package var concernsOneDevice: Bool { self == .fcmDeviceQuotaExceeded || self == .apnsTooManyRequests }

    /// What a person can do about a credential that was paused for this.
    package var remedy: String {
        switch self {
        case .credentialUnusable: "put a readable, well-formed key file where `file` says, on every worker's machine"
        case .fcmUnauthenticated, .fcmAccessTokenRefused:
            "make a new key for the service account in the Google Cloud console and replace the file"
        case .fcmPermissionDenied: "give the service account the role Firebase Cloud Messaging API Admin"
        case .apnsInvalidProviderToken, .apnsForbidden, .apnsUnrelatedKeyID, .apnsBadEnvironmentKeyID:
            "check key id, team id and the key's environment in the Apple developer account, and replace the .p8 file"
        case .apnsBadCertificate, .apnsBadCertificateEnvironment:
            "use a token key (.p8) of the app's team in place of the certificate"
        case .fcmThirdPartyAuth: "upload a valid APNs key or web push certificate in the Firebase console"
        default: "look the reason up in the provider's console, mend it, and resume"
        }
    }
}

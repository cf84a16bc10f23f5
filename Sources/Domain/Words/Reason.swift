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
    // Decided by the renderer, before anything leaves.
    case renderedEmpty = 20
    case renderedURLInvalid = 21
    case payloadTooLarge = 22
    case contentInvalid = 23
    // Decided by the expansion.
    case holdout = 40
    case noTimeZone = 41
    case hourPast = 42
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
        case .renderedEmpty: "rendered_empty"
        case .renderedURLInvalid: "rendered_url_invalid"
        case .payloadTooLarge: "payload_too_large"
        case .contentInvalid: "content_invalid"
        case .holdout: "holdout"
        case .noTimeZone: "no_time_zone"
        case .hourPast: "hour_past"
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
        }
    }
}

import Domain

/// What an answer of FCM means (fcm.md §8.1): the code in the body first, wherever it stands, then the status.
///
/// An address is given up on evidence only: the code `UNREGISTERED`, or an `INVALID_ARGUMENT` that is about the token.
enum FCMClassifier {
    struct Response {
        var status: Int
        var retryAfter: String?
        /// The header `Date`.
        var date: String?
        var body: [UInt8]
    }

    /// - Parameter now: seconds since 1970, for a `Retry-After` that is a date in an answer without `Date`.
    static func classify(_ response: Response, now: Int64) -> Answer {
        if (200..<300).contains(response.status) { return .delivered(messageID: FCMMessageName.id(in: response.body)) }
        let error = FCMErrorBody(parsing: response.body)
        let named = response.retryAfter.flatMap { ProviderDelay.parse(retryAfter: $0, date: response.date, now: now) }
        let wait = Wait(
            header: named, named: [named, error.retryDelay].compactMap(\.self).max(),
            isDeviceQuota: isDeviceQuota(error))
        return byCode(error, wait, response.status) ?? byStatus(error, wait, response.status)
    }

    /// How long the provider asked for.
    private struct Wait {
        var header: Duration?
        /// The longer of `Retry-After` and `RetryInfo`.
        var named: Duration?
        var isDeviceQuota: Bool

        func atLeast(_ floor: Duration) -> Duration { max(floor, named ?? .zero) }
    }

    /// nil = no code that we know, or one that leaves the decision to the status.
    private static func byCode(_ error: FCMErrorBody, _ wait: Wait, _ status: Int) -> Answer? {
        switch error.errorCode {
        case "UNREGISTERED" where status < 500: .unregistered(.fcmUnregistered, since: nil)
        case "SENDER_ID_MISMATCH": .wrongProject(.fcmSenderIDMismatch)
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR": .credential(.fcmThirdPartyAuth)
        case "QUOTA_EXCEEDED": slowDown(wait)
        case "UNAVAILABLE": .retry(.fcmUnavailable, after: wait.named)
        case "INTERNAL": .retry(.fcmInternal, after: wait.named)
        case "INVALID_ARGUMENT" where status < 500: invalidArgument(error)
        case "UNSPECIFIED_ERROR" where status >= 500: .retry(.fcmUnspecified, after: wait.named)
        case "UNSPECIFIED_ERROR" where status == 400: .refused(.fcmUnspecified)
        // An old code names what it is, whatever status stands above it; but 5xx retires no address.
        case let code?: FCMLegacyCode.answer(to: code).flatMap { status < 500 || !$0.retires ? $0 : nil }
        case nil: nil
        }
    }

    private static func byStatus(_ error: FCMErrorBody, _ wait: Wait, _ status: Int) -> Answer {
        switch status {
        case 400: invalidArgument(error)
        case 401: .credential(.fcmUnauthenticated)
        // A code that we do not know: what decisions.md says of an unknown 403. Without one: API disabled, role missing.
        case 403: error.errorCode == nil ? .config(.fcmPermissionDenied) : .credential(.fcmPermissionDenied)
        // The project or the URL. Never a device: that is said by a code.
        case 404: .config(.fcmNotFound)
        case 405: .config(.fcmUnexpectedStatus)
        // A captive portal, a wrong URL, or a proxy that wants to know us. Never followed with a bearer token.
        case 300..<400, 407: .config(.fcmProxyError)
        case 408: .retry(.fcmUnavailable, after: wait.named)
        case 429: slowDown(wait)
        case 500: .retry(.fcmInternal, after: wait.named)
        case 502: .retry(.fcmProxyError, after: wait.atLeast(.seconds(30)))
        case 503: .retry(.fcmUnavailable, after: wait.named)
        case 504: .retry(.fcmProxyError, after: wait.named)
        case 500...: .retry(.fcmUnexpectedStatus, after: wait.named)
        default: .refused(.fcmUnexpectedStatus)
        }
    }

    /// A minute unless `Retry-After` says otherwise; one device's quota leaves the delay to the job's own backoff.
    private static func slowDown(_ wait: Wait) -> Answer {
        if wait.isDeviceQuota { return .slowDown(.fcmDeviceQuotaExceeded, after: wait.named) }
        return .slowDown(.fcmQuotaExceeded, after: wait.header == nil ? wait.atLeast(.seconds(60)) : wait.named)
    }

    private static func invalidArgument(_ error: FCMErrorBody) -> Answer {
        if error.violatedFields.contains("message.token") { return .unregistered(.fcmInvalidToken, since: nil) }
        if saysTokenIsInvalid(error.message) { return .unregistered(.fcmInvalidToken, since: nil) }
        switch error.appleStatus {
        case 410: return .unregistered(.fcmUnregistered, since: nil)
        // Another answer of Apple's, a 400 `BadDeviceToken` too, may be a mix-up of environments.
        case _?: return .refused(.fcmAPNsRejected)
        case nil: return .refused(.fcmInvalidArgument)
        }
    }

    /// The one text that means it, but for case and final punctuation: others mention tokens too.
    private static func saysTokenIsInvalid(_ message: String) -> Bool {
        var text = message.lowercased()[...]
        while let last = text.last, last.isPunctuation || last.isWhitespace { text.removeLast() }
        return text == "the registration token is not a valid fcm registration token"
    }

    private static func isDeviceQuota(_ error: FCMErrorBody) -> Bool {
        error.appleStatus == 429
            || error.quotaViolations.contains { text in
                let text = text.lowercased()
                return text == "device" || text.contains("per device")
            }
    }
}

extension Answer {
    /// The address is given up for it.
    fileprivate var retires: Bool { if case .unregistered = self { true } else { false } }
}

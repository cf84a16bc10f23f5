import Domain

/// What an answer of APNs means (apns.md §5): the reason in the body, where it fits the status, then the status alone.
enum APNsClassifier {
    struct Response {
        var status: Int
        var retryAfter: String?
        /// The header `Date`.
        var date: String?
        var body: [UInt8]
    }

    /// What is known beside the answer.
    struct Circumstances {
        /// The token belongs to the environment that was asked, if to any.
        var environmentIsProven = false
        /// By the database's clock.
        var sentAt: Instant
    }

    /// Apple: 5xx may be tried again after 15 minutes.
    static let serverFaultDelay = Duration.seconds(900)
    private static let deviceDelay = Duration.seconds(60)

    /// The request's own `apns-id` comes back on success; the caller knows where it is kept.
    static func classify(_ response: Response, _ circumstances: Circumstances) -> Answer {
        if response.status == 200 { return .delivered(messageID: nil) }
        let body = APNsErrorBody(parsing: response.body)
        let named = response.retryAfter.flatMap {
            ProviderDelay.parse(retryAfter: $0, date: response.date, now: circumstances.sentAt.seconds)
        }
        switch response.status {
        case 400: return badRequest(body.reason, circumstances)
        case 403: return forbidden(body.reason)
        case 410: return gone(body, circumstances)
        case 413: return .refused(.apnsPayloadTooLarge)
        case 429: return tooMany(body.reason, named)
        case 500...: return serverFault(body.reason, response.status, named)
        default: return other(body.reason, response.status, named)
        }
    }

    private static func badRequest(_ reason: String?, _ circumstances: Circumstances) -> Answer {
        switch reason {
        case "BadDeviceToken":
            circumstances.environmentIsProven
                ? .unregistered(.apnsBadDeviceToken, since: circumstances.sentAt) : .refused(.apnsBadDeviceToken)
        case "DeviceTokenNotForTopic": .wrongProject(.apnsDeviceTokenNotForTopic)
        case "BadCollapseId": .refused(.apnsBadCollapseID)
        case "BadExpirationDate": .refused(.apnsBadExpirationDate)
        case "BadMessageId": .refused(.apnsBadMessageID)
        case "BadPriority": .refused(.apnsBadPriority)
        case "InvalidPushType": .refused(.apnsInvalidPushType)
        case "MissingDeviceToken": .refused(.apnsMissingDeviceToken)
        case "BadTopic": .config(.apnsBadTopic)
        case "TopicDisallowed": .config(.apnsTopicDisallowed)
        case "MissingTopic": .config(.apnsMissingTopic)
        case "DuplicateHeaders": .config(.apnsDuplicateHeaders)
        case "PayloadEmpty": .refused(.apnsPayloadEmpty)
        case "IdleTimeout": .retry(.apnsIdleTimeout, after: .zero)
        default: .refused(.apnsBadRequest)
        }
    }

    private static func forbidden(_ reason: String?) -> Answer {
        switch reason {
        case "ExpiredProviderToken": .credential(.apnsExpiredProviderToken)
        case "InvalidProviderToken": .credential(.apnsInvalidProviderToken)
        case "UnrelatedKeyIdInToken": .credential(.apnsUnrelatedKeyID)
        case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken": .credential(.apnsBadEnvironmentKeyID)
        case "BadCertificate": .credential(.apnsBadCertificate)
        case "BadCertificateEnvironment": .credential(.apnsBadCertificateEnvironment)
        case "MissingProviderToken": .config(.apnsMissingProviderToken)
        case "Forbidden": .config(.apnsForbidden)
        // It concerns who we are: better a pause than a backlog that burns.
        default: .credential(.apnsUnexpectedStatus)
        }
    }

    /// The address is retired only if it did not register since. Without a time it is that of sending; for a reason that
    /// we do not know it is the beginning of time, so that the address stays.
    private static func gone(_ body: APNsErrorBody, _ circumstances: Circumstances) -> Answer {
        let since = body.timestamp ?? circumstances.sentAt
        return switch body.reason {
        case "ExpiredToken": .unregistered(.apnsExpiredToken, since: since)
        case "Unregistered", nil: .unregistered(.apnsUnregistered, since: since)
        default: .unregistered(.apnsGone, since: Instant(microseconds: 0))
        }
    }

    private static func tooMany(_ reason: String?, _ named: Duration?) -> Answer {
        reason == "TooManyProviderTokenUpdates"
            ? .retry(.apnsTooManyProviderTokenUpdates, after: named)
            : .slowDown(.apnsTooManyRequests, after: named ?? deviceDelay)
    }

    private static func serverFault(_ reason: String?, _ status: Int, _ named: Duration?) -> Answer {
        switch (reason, status) {
        case ("Shutdown", _): .retry(.apnsShutdown, after: named ?? .zero)
        case ("IdleTimeout", _): .retry(.apnsIdleTimeout, after: named ?? .zero)
        case ("ServiceUnavailable", _): .retry(.apnsServiceUnavailable, after: named ?? serverFaultDelay)
        case (_, 500): .retry(.apnsInternalServerError, after: named ?? serverFaultDelay)
        default: .retry(.apnsProxyError, after: named ?? serverFaultDelay)
        }
    }

    private static func other(_ reason: String?, _ status: Int, _ named: Duration?) -> Answer {
        switch (status, reason) {
        case (401, _): .credential(.apnsUnexpectedStatus)
        // The URL, never a device.
        case (404, "BadPath"), (404, nil): .config(.apnsBadPath)
        case (405, _): .config(.apnsMethodNotAllowed)
        case (408, _): .retry(.apnsProxyError, after: named)
        // A captive portal, or a proxy that wants to know us. Never followed with a token of ours.
        case (300..<400, _), (407, _): .config(.apnsProxyError)
        default: .refused(.apnsUnexpectedStatus)
        }
    }
}

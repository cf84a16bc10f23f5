import Domain
import FoundationEssentials

/// What an answer of a push service means (webpush.md §5, §6): the status first, then what some services add to it.
///
/// A subscription is given up for 404 and 410 alone, and for what Apple says in their place.
enum WebPushClassifier {
    struct Response {
        var status: Int
        var retryAfter: String?
        /// The header `Date`.
        var date: String?
        var location: String?
        /// Microsoft's.
        var wnsStatus: String?
        var wnsError: String?
        var body: [UInt8] = []
    }

    /// - Parameter now: seconds since 1970, for a `Retry-After` that is a date in an answer without `Date`.
    static func classify(_ response: Response, now: Int64) -> Answer {
        let wait = wait(response, now)
        switch response.status {
        case 200, 201, 202, 204: return accepted(response, wait)
        case 300..<400: return .refused(.webpushRedirected)  // never followed: the address is a stranger's
        case 400: return badRequest(response)
        case 401: return .credential(.webpushUnauthorized)
        case 403: return isKeyMismatch(response) ? .wrongProject(.webpushKeyMismatch) : .credential(.webpushForbidden)
        case 404:
            return reason(response) == "BadPath"
                ? .refused(.webpushBadPath) : .unregistered(.webpushNotFound, since: nil)
        case 405: return .config(.webpushMethodNotAllowed)
        case 406: return .slowDown(.webpushChannelThrottled, after: wait ?? .seconds(60))
        case 408: return .retry(.webpushUnavailable, after: wait)
        case 410:
            return isDomainBlocked(response)
                ? .config(.webpushDomainBlocked) : .unregistered(.webpushGone, since: nil)
        case 413: return .refused(.webpushTooLarge)
        case 429: return .slowDown(.webpushTooManyRequests, after: wait ?? .seconds(60))
        case 500: return .retry(.webpushInternal, after: wait)
        case 502, 504: return .retry(.webpushProxyError, after: wait)
        case 503: return unavailable(response, wait)
        case 500...: return .retry(.webpushUnexpectedStatus, after: wait)
        default: return .refused(.webpushUnexpectedStatus)
        }
    }

    private static func accepted(_ response: Response, _ wait: Duration?) -> Answer {
        switch response.wnsStatus?.lowercased() {
        case "dropped": .refused(.webpushDroppedByService)
        case "channelthrottled": .slowDown(.webpushChannelThrottled, after: wait ?? .seconds(60))
        default: .delivered(messageID: response.location.flatMap(messageID))
        }
    }

    private static func badRequest(_ response: Response) -> Answer {
        switch reason(response) {
        case "BadWebPushToken", "BadDeviceToken": .unregistered(.webpushBadToken, since: nil)
        case "VapidPkHashMismatch": .wrongProject(.webpushKeyMismatch)
        case "IdleTimeout": .retry(.webpushConnectionOver, after: .zero)
        default: .refused(.webpushBadRequest)
        }
    }

    private static func unavailable(_ response: Response, _ wait: Duration?) -> Answer {
        if reason(response) == "Shutdown" { return .retry(.webpushConnectionOver, after: .zero) }
        // Mozilla's, for "try again at once".
        let isAtOnce = members(response)?.errno == 202
        return .retry(.webpushUnavailable, after: wait ?? (isAtOnce ? .zero : nil))
    }

    /// Apple says so in a word, FCM in a sentence: "… does not correspond to the sender ID used to subscribe this user",
    /// "the VAPID credentials … do not correspond to the credentials used to create the subscriptions".
    private static func isKeyMismatch(_ response: Response) -> Bool {
        if reason(response) == "VapidPkHashMismatch" { return true }
        let text = String(decoding: response.body.prefix(1024), as: UTF8.self).lowercased()
        guard !text.contains("<html") else { return false }
        return ["does not correspond to the sender id", "do not correspond to the credentials used"].contains {
            text.contains($0)
        }
    }

    private static func isDomainBlocked(_ response: Response) -> Bool {
        [response.wnsError ?? "", String(decoding: response.body.prefix(256), as: UTF8.self)].contains {
            $0.lowercased().contains("domain blocked")
        }
    }

    /// A date in the past, like what cannot be read, counts as absent.
    private static func wait(_ response: Response, _ now: Int64) -> Duration? {
        guard let text = response.retryAfter,
            let wait = ProviderDelay.parse(retryAfter: text, date: response.date, now: now)
        else { return nil }
        return wait == .zero && HTTPDate.seconds(text) != nil ? nil : wait
    }

    /// The last part of the message resource's address: the rest of it is a secret.
    private static func messageID(_ location: String) -> String? {
        guard let last = location.split(separator: "/").last, last.utf8.count <= 64,
            last.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(last)
    }

    private static func reason(_ response: Response) -> String? { members(response)?.reason }

    private static func members(_ response: Response) -> Members? {
        guard response.body.first == UInt8(ascii: "{") else { return nil }
        return try? JSONDecoder().decode(Members.self, from: Data(response.body))
    }

    /// Apple's `reason`, Mozilla's `errno`.
    private struct Members: Decodable {
        var reason: String?
        var errno: Int?

        enum CodingKeys: String, CodingKey { case reason, errno }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            reason = try? container.decode(String.self, forKey: .reason)
            errno = try? container.decode(Int.self, forKey: .errno)
        }
    }
}

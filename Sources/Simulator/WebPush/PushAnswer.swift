import HTTP2

/// Answers of push services, in the manners of the one that the endpoint belongs to (RFC 8030 §5 and §8.4; Mozilla's
/// table of errno; Apple's page on web push; Microsoft's on WNS).
struct PushAnswer {
    let response: HTTP2ServerResponse
    /// What it is counted and journalled under.
    let reason: String

    private init(_ status: Int, _ reason: String, _ fields: [(String, String)] = [], _ body: String = "") {
        response = HTTP2ServerResponse(status: status, fields: fields, body: Array(body.utf8))
        self.reason = reason
    }

    static func created(_ id: [UInt8], ttl: Int64, _ manners: PushPath.Manners?) -> PushAnswer {
        let id = String(decoding: id, as: UTF8.self)
        return switch manners {
        case .apple: PushAnswer(201, "ok", [("apns-id", id)])
        case .wns: PushAnswer(201, "ok", [("x-wns-status", "received"), ("x-wns-msg-id", id)])
        case .fcm, .mozilla, nil: PushAnswer(201, "ok", [("location", "/m/\(id)"), ("ttl", String(ttl))])
        }
    }

    // MARK: By what is wrong

    static func refused(_ refusal: VAPIDCheck.Refusal, _ manners: PushPath.Manners?) -> PushAnswer {
        let name = "vapid_\(refusal.rawValue)"
        switch (manners, refusal) {
        case (_, .otherKey): return otherKey(manners)
        case (.mozilla, _): return mozilla(401, 109, reason: name)
        case (.apple, .missing), (.apple, .scheme), (.apple, .tokenMissing), (.apple, .keyMissing):
            return apple(403, "BadAuthorizationHeader", reason: name)
        case (.apple, .keyLength), (.apple, .keyPoint): return apple(403, "BadVapidPublicKey", reason: name)
        case (.apple, _): return apple(403, "BadJwtToken", reason: name)
        case (_, .missing), (_, .scheme): return PushAnswer(401, name, [("www-authenticate", "vapid")])
        default: return PushAnswer(403, name, plain, "the VAPID credentials are refused: \(refusal.rawValue)\n")
        }
    }

    private static func otherKey(_ manners: PushPath.Manners?) -> PushAnswer {
        switch manners {
        case .apple: apple(400, "VapidPkHashMismatch")
        case .mozilla: mozilla(401, 109, reason: "other_key")
        case .fcm, .wns, nil:
            PushAnswer(
                403, "other_key", plain,
                "the VAPID credentials in the authorization header do not correspond to the credentials used to create "
                    + "the subscriptions.\n")
        }
    }

    /// A header or the form of the body.
    static func malformed(_ fault: PushRequest.Fault, _ manners: PushPath.Manners?) -> PushAnswer {
        if fault == .method { return PushAnswer(405, fault.rawValue, [("allow", "POST")]) }
        if fault == .tooLarge {
            return switch manners {
            case .apple: apple(413, "PayloadTooLarge")
            case .mozilla: mozilla(413, 104)
            case .fcm, .wns, nil: PushAnswer(413, fault.rawValue)
            }
        }
        switch manners {
        case .apple:
            let reasons: [PushRequest.Fault: String] = [
                .ttl: "BadTtl", .urgency: "BadUrgency", .topic: "BadWebPushTopic",
            ]
            return apple(400, reasons[fault] ?? "BadWebPushRequest", reason: fault.rawValue)
        case .mozilla:
            let numbers: [PushRequest.Fault: Int] = [.ttl: 111, .topic: 113, .urgency: 114]
            return mozilla(400, numbers[fault] ?? 110, reason: fault.rawValue)
        case .fcm, .wns, nil: return PushAnswer(400, fault.rawValue, plain, "bad request: \(fault.rawValue)\n")
        }
    }

    // MARK: By a fault that was asked for

    static func fault(_ fault: Fault, retryAfter: Int, _ manners: PushPath.Manners?) -> PushAnswer? {
        let wait = [("retry-after", String(retryAfter))]
        switch (fault, manners) {
        case (.unregistered, .apple): return apple(410, "Unregistered")
        case (.unregistered, .mozilla): return mozilla(410, 106)
        case (.unregistered, _): return PushAnswer(410, "gone", plain, gone)
        case (.bad, .apple): return apple(400, "BadWebPushToken")
        case (.bad, .mozilla): return mozilla(404, 102)
        case (.bad, _): return PushAnswer(404, "not_found", plain, gone)
        case (.mismatch, _): return otherKey(manners)
        case (.quota, .apple): return apple(429, "TooManyRequests")
        case (.quota, .mozilla): return mozilla(429, 201, wait)
        case (.quota, _): return PushAnswer(429, "too_many_requests", wait)
        case (.e401, .mozilla): return mozilla(401, 109)
        case (.e401, .apple): return apple(403, "BadJwtToken")
        case (.e401, _): return PushAnswer(401, "unauthorized", [("www-authenticate", "vapid")])
        case (.e500, .mozilla): return mozilla(500, 999)
        case (.e500, .apple): return apple(500, "InternalServerError")
        case (.e500, _): return PushAnswer(500, "internal")
        case (.e503, .mozilla): return mozilla(503, 201, wait)
        case (.e503, .apple): return apple(503, "ServiceUnavailable")
        case (.e503, _): return PushAnswer(503, "unavailable", wait)
        case (.html502, _): return PushAnswer(502, "bad_gateway", [("content-type", "text/html")], "<html>502</html>")
        case (.thirdparty, _): return PushAnswer(403, "forbidden")
        case (.empty, _): return PushAnswer(200, "empty")
        case (.slow, _), (.reset, _), (.stall, _), (.goaway, _), (.close, _), (.drop, _), (.refuse, _),
            (.goawaybelow, _):
            return nil
        }
    }

    /// The documented answers that no fault of its own stands for, asked for by how a token begins: `apple-BadTtl-…`,
    /// `mozilla-902-…`, `redirect-…`.
    static func asked(by token: [UInt8]) -> PushAnswer? {
        let words = String(decoding: token, as: UTF8.self).split(separator: "-", maxSplits: 2)
        switch (words.first, words.count) {
        case ("apple", 3): return appleStatus[String(words[1])].map { apple($0, String(words[1])) }
        case ("mozilla", 3):
            return Int(words[1]).flatMap { number in mozillaStatus[number].map { mozilla($0, number) } }
        case (let name?, 2...): return others[String(name)]
        default: return nil
        }
    }

    private static let others: [String: PushAnswer] = [
        "redirect": PushAnswer(307, "redirect", [("location", "http://169.254.169.254/latest")]),
        "forbidden": PushAnswer(403, "forbidden"),
        "toolarge": PushAnswer(413, "too_large"),
        "badrequest": PushAnswer(400, "bad_request", plain, "Bad request"),
        "notallowed": PushAnswer(405, "not_allowed"),
        "throttled": PushAnswer(406, "throttled", [("x-wns-status", "channelthrottled")]),
        "dropped": PushAnswer(200, "dropped", [("x-wns-status", "dropped")]),
        "blocked": PushAnswer(410, "domain_blocked", [("x-wns-error-description", "Domain Blocked")], "Domain Blocked"),
        "huge": PushAnswer(400, "huge", plain, String(repeating: "A", count: 10 << 20)),
        "teapot": PushAnswer(418, "teapot"),
    ]

    private static let appleStatus = [
        "BadTtl": 400, "BadUrgency": 400, "BadWebPushRequest": 400, "BadWebPushTopic": 400, "BadWebPushToken": 400,
        "BadDeviceToken": 400, "VapidPkHashMismatch": 400, "IdleTimeout": 400, "BadAuthorizationHeader": 403,
        "BadJwtToken": 403, "BadVapidPublicKey": 403, "BadPath": 404, "MethodNotAllowed": 405, "Unregistered": 410,
        "PayloadTooLarge": 413, "TooManyRequests": 429, "InternalServerError": 500, "ServiceUnavailable": 503,
        "Shutdown": 503,
    ]

    private static let mozillaStatus = [
        101: 400, 102: 404, 103: 410, 104: 413, 105: 410, 106: 410, 108: 400, 109: 401, 110: 400, 111: 400, 112: 400,
        113: 400, 114: 400, 201: 503, 202: 503, 900: 502, 901: 502, 902: 502, 903: 502, 999: 500,
    ]

    private static let plain = [("content-type", "text/plain")]
    private static let gone = "push subscription has unsubscribed or expired.\n"

    private static func apple(_ status: Int, _ word: String, reason: String? = nil) -> PushAnswer {
        PushAnswer(
            status, reason ?? word, [("content-type", "application/json")], #"{"reason":"\#(word)"}"#)
    }

    private static func mozilla(
        _ status: Int, _ number: Int, _ more: [(String, String)] = [], reason: String? = nil
    ) -> PushAnswer {
        PushAnswer(
            status, reason ?? "errno_\(number)", [("content-type", "application/json")] + more,
            #"{"code":\#(status),"errno":\#(number),"error":"\#(status)","message":"Sent by a simulator"}"#)
    }
}

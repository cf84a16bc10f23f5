/// All that decides how sends are answered, save for the tokens' own prefixes. Changed by options, script and admin.
struct FaultSettings: Sendable {
    private(set) var rates: FaultRates
    /// On top of those, for one provider.
    private(set) var fcm: FaultRates
    private(set) var webPush: FaultRates
    private(set) var latency = Latency.none
    /// Seconds, in 429 and 503.
    private(set) var retryAfter = 1
    private(set) var limit: RateLimit?
    private(set) var oauth: OAuthFaults
    private(set) var apns: APNsFaults

    init(seed: UInt64) {
        rates = FaultRates(seed: seed)
        fcm = FaultRates(seed: seed ^ 0x100)
        webPush = FaultRates(seed: seed ^ 0x101)
        oauth = OAuthFaults(seed: seed)
        apns = APNsFaults(seed: seed)
    }

    /// Applies settings separated by commas: shares of faults (`e503=0.5%` of all providers, `fcm-transient=2%` and
    /// `webpush-goaway=1%` of one, `apns-Shutdown=1%` in Apple's words, `oauth-503=10%`), `none` (no faults at all),
    /// `latency=20ms±10ms`, `retry-after=5`, `rate=1000/s` or `rate=none`. All or none of them.
    mutating func change(_ text: String) throws(FaultSyntaxError) {
        var changed = self
        for part in text.split(separator: ",") {
            let part = String(part.filter { !$0.isWhitespace })
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            switch (sides.first ?? "", sides.count) {
            case ("latency", 2): changed.latency = try Latency(parsing: sides[1])
            case ("retry-after", 2):
                guard let seconds = Int(sides[1]), (0...86_400).contains(seconds) else {
                    throw FaultSyntaxError("'\(sides[1])' is no number of seconds")
                }
                changed.retryAfter = seconds
            case ("rate", 2): changed.limit = sides[1] == "none" ? nil : try RateLimit(parsing: sides[1])
            case ("none", 1):
                try changed.rates.set("none")
                try changed.fcm.set("none")
                try changed.webPush.set("none")
                changed.oauth = OAuthFaults(seed: changed.oauth.seed)
                changed.apns = APNsFaults(seed: changed.apns.seed)
            case (let name, 2) where name.hasPrefix("oauth-"):
                try changed.oauth.set(String(name.dropFirst("oauth-".count)), Share(parsing: sides[1]))
            case (let name, 2) where name.hasPrefix("apns-"):
                try changed.apns.set(String(name.dropFirst("apns-".count)), Share(parsing: sides[1]))
            case (let name, 2) where name.hasPrefix(Self.fcmPrefix):
                try changed.fcm.set(part.dropFirst(Self.fcmPrefix.count))
            case (let name, 2) where name.hasPrefix(Self.webPushPrefix):
                try changed.webPush.set(part.dropFirst(Self.webPushPrefix.count))
            default: try changed.rates.set(part)
            }
        }
        self = changed
    }

    private static let fcmPrefix = "fcm-"
    private static let webPushPrefix = "webpush-"

    /// The fault for a request to FCM, nil if none.
    /// - Parameter attempts: requests for the device before this one.
    func drawFCM(device: UInt64, attempts: UInt32) -> Fault? {
        rates.draw(device: device, attempts: attempts) ?? fcm.draw(device: device, attempts: attempts)
    }

    /// As above, for a push service of browsers.
    func drawWebPush(device: UInt64, attempts: UInt32) -> Fault? {
        rates.draw(device: device, attempts: attempts) ?? webPush.draw(device: device, attempts: attempts)
    }

    /// Shares by name, as fractions.
    var shares: [String: Double] {
        var shares = rates.fractions
        for (name, share) in fcm.fractions { shares[Self.fcmPrefix + name] = share }
        for (name, share) in webPush.fractions { shares[Self.webPushPrefix + name] = share }
        return shares.merging(oauth.fractions) { first, _ in first }.merging(apns.fractions) { first, _ in first }
    }

    /// - Returns: how long the sender must wait, if the quota is used up.
    mutating func takeFromQuota(at now: ContinuousClock.Instant) -> Duration? {
        limit?.take(at: now)
    }
}

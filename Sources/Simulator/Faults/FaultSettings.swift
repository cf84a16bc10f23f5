/// All that decides how sends are answered, save for the tokens' own prefixes. Changed by options, script and admin.
struct FaultSettings: Sendable {
    private(set) var rates: FaultRates
    private(set) var latency = Latency.none
    /// Seconds, in 429 and 503.
    private(set) var retryAfter = 1
    private(set) var limit: RateLimit?
    private(set) var oauth: OAuthFaults
    private(set) var apns: APNsFaults

    init(seed: UInt64) {
        rates = FaultRates(seed: seed)
        oauth = OAuthFaults(seed: seed)
        apns = APNsFaults(seed: seed)
    }

    /// Applies settings separated by commas: shares of faults (`e503=0.5%`, `oauth-503=10%`,
    /// `apns-Shutdown=1%`), `none` (no faults at all),
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
                changed.oauth = OAuthFaults(seed: changed.oauth.seed)
                changed.apns = APNsFaults(seed: changed.apns.seed)
            case (let name, 2) where name.hasPrefix("oauth-"):
                try changed.oauth.set(String(name.dropFirst("oauth-".count)), Share(parsing: sides[1]))
            case (let name, 2) where name.hasPrefix("apns-"):
                try changed.apns.set(String(name.dropFirst("apns-".count)), Share(parsing: sides[1]))
            default: try changed.rates.set(part)
            }
        }
        self = changed
    }

    /// Shares by name, as fractions.
    var shares: [String: Double] {
        rates.fractions.merging(oauth.fractions) { first, _ in first }.merging(apns.fractions) { first, _ in first }
    }

    /// - Returns: how long the sender must wait, if the quota is used up.
    mutating func takeFromQuota(at now: ContinuousClock.Instant) -> Duration? {
        limit?.take(at: now)
    }
}

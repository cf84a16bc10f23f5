/// What a campaign would do if it went out as it stands: who gets it, when, and who is passed over.
package struct AudiencePlan: Sendable, Codable, Equatable {
    package struct Share: Sendable, Codable, Equatable {
        package var name: String
        package var subscribers: Int64
        package init(name: String, subscribers: Int64) {
            self.name = name
            self.subscribers = subscribers
        }
    }
    package struct Wave: Sendable, Codable, Equatable {
        /// RFC 3339, in UTC.
        package var at: String
        package var subscribers: Int64
    }

    /// Who belongs to the audience now; equals `sent` and all of `skipped`.
    package var targeted: Int64 = 0
    package var sent: Int64 = 0
    /// false: reckoned from a sample of `sampled` subscribers.
    package var exact = true
    package var sampled: Int64 = 0
    package var transports: [Share] = []
    /// Languages served.
    package var languages: [Share] = []
    package var variants: [Share] = []
    package var skipped: [Share] = []
    package var waves: [Wave] = []
    /// Of `sent`, those who wait for the end of their quiet hours; nil = nobody.
    package var deferred: Int64?
    /// What the schedule does where it has to choose.
    package var policies: [String] = []
    package var firstAt: String?
    /// By the limits that are set; nil = nothing limits it but the workers.
    package var lastAt: String?
    package var seconds: Int64?
    package var perSecond: Int64?
    /// Nothing of it would be sent any more; nil = not so.
    package var isOver: Bool?

    package init() {}
}

/// One group of the audience, as the database counts it.
package struct PlannedGroup: Sendable {
    package var transport: TransportKind
    package var route: Int64
    /// Requests a second of the route; nil = no limit.
    package var rate: Int64?
    package var language: String?
    /// nil = sent to.
    package var skip: Reason?
    /// From 1; 0 = no test.
    package var variant: Int
    package var dueAt: Instant
    package var subscribers: Double
    /// Due at the end of quiet hours.
    package var isDeferred = false

    package init(
        transport: TransportKind, route: Int64, rate: Int64?, language: String?, skip: Reason?, variant: Int,
        dueAt: Instant, subscribers: Double
    ) {
        self.transport = transport
        self.route = route
        self.rate = rate
        self.language = language
        self.skip = skip
        self.variant = variant
        self.dueAt = dueAt
        self.subscribers = subscribers
    }
}

extension AudiencePlan {
    /// Sums groups up.
    /// - Parameter campaignShare: of a route's rate that campaigns may take.
    package init(of groups: [PlannedGroup], for file: CampaignFile, campaignShare: Double = 0.9) {
        self.init()
        let messages = file.variants.isEmpty ? [file.message] : file.variants.map(\.message)
        let resolvers = messages.map { source -> (LanguageResolver, Message)? in
            guard case .inline(let message)? = source, !message.variants.isEmpty else { return nil }
            return (LanguageResolver(message), message)
        }
        var sums = Sums()
        for group in groups {
            sums.targeted += group.subscribers
            if let skip = group.skip {
                sums.skipped[skip.name, default: 0] += group.subscribers
                continue
            }
            if group.isDeferred { sums.deferred += group.subscribers }
            sums.transports[group.transport.name, default: 0] += group.subscribers
            sums.waves[group.dueAt, default: [:]][group.route, default: 0] += group.subscribers
            if let rate = group.rate { sums.rates[group.route] = Double(rate) * campaignShare }
            let resolver = resolvers.indices.contains(group.variant - 1) ? resolvers[group.variant - 1] : resolvers[0]
            let language = resolver.map { $1.variants[$0.resolve(group.language)].language } ?? "-"
            sums.languages[language, default: 0] += group.subscribers
            if file.variants.indices.contains(group.variant - 1) {
                sums.variants[file.variants[group.variant - 1].name, default: 0] += group.subscribers
            }
        }
        take(sums, runRate: file.perSecond.map(Double.init))
        policies = Self.policies(of: file.schedule)
    }

    private struct Sums {
        var targeted = 0.0
        var deferred = 0.0
        var transports: [String: Double] = [:]
        var languages: [String: Double] = [:]
        var variants: [String: Double] = [:]
        var skipped: [String: Double] = [:]
        /// By instant and route.
        var waves: [Instant: [Int64: Double]] = [:]
        var rates: [Int64: Double] = [:]
    }

    private mutating func take(_ sums: Sums, runRate: Double?) {
        transports = Self.shares(sums.transports)
        languages = Self.shares(sums.languages)
        variants = Self.shares(sums.variants)
        skipped = Self.shares(sums.skipped)
        let instants = sums.waves.keys.sorted()
        waves = instants.map { Wave(at: $0.rfc3339, subscribers: Self.whole(sums.waves[$0]?.values.reduce(0, +) ?? 0)) }
        sent = transports.reduce(0) { $0 + $1.subscribers }
        deferred = sums.deferred > 0 ? Self.whole(sums.deferred) : nil
        targeted = sent + skipped.reduce(0) { $0 + $1.subscribers }
        firstAt = instants.first?.rfc3339
        perSecond = runRate.map { Int64($0) }
        guard let first = instants.first, runRate != nil || !sums.rates.isEmpty else { return }
        // Each wave begins when it is due or the one before it is over, on the run's clock and on each route's.
        var runFree = Double(first.microseconds) / 1e6
        var routeFree: [Int64: Double] = [:]
        for instant in instants {
            let due = Double(instant.microseconds) / 1e6
            for (route, count) in sums.waves[instant] ?? [:] {
                if let runRate { runFree = max(runFree, due) + count / runRate }
                if let rate = sums.rates[route] { routeFree[route] = max(routeFree[route] ?? due, due) + count / rate }
            }
        }
        let end = max(runFree, routeFree.values.max() ?? 0, Double(instants[instants.count - 1].microseconds) / 1e6)
        lastAt = Instant(microseconds: Int64(end * 1e6)).rfc3339
        seconds = Int64((end - Double(first.microseconds) / 1e6).rounded(.up))
    }

    private static func shares(_ sums: [String: Double]) -> [Share] {
        sums.map { Share(name: $0, subscribers: whole($1)) }
            .sorted { ($1.subscribers, $0.name) < ($0.subscribers, $1.name) }
    }

    private static func whole(_ number: Double) -> Int64 { Int64(number.rounded()) }

    private static func policies(of schedule: Schedule) -> [String] {
        let policies = schedule.policies
        switch schedule {
        case .now: return []
        case .at: return ["audienceAt: \(policies.audienceAt.rawValue)"]
        case .local:
            return [
                "missingZone: \(policies.missingZone.rawValue)", "pastLocal: \(policies.pastLocal.rawValue)",
                "audienceAt: \(policies.audienceAt.rawValue)",
            ]
        case .cron: return ["missed: \(policies.missed.rawValue)", "overlap: \(policies.overlap.rawValue)"]
        }
    }
}

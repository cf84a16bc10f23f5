import Domain
import FoundationEssentials
import Postgres

extension AdminStore {
    /// Rows that an estimate reads of a large table.
    private static let sampleSize = 50_000.0

    /// Who would get a campaign, when, and who would be passed over. Reads only.
    /// - Parameter exact: count every subscriber in place of a sample.
    /// - Throws: `AdminError` when a name in the file is unknown.
    package func plan(_ file: CampaignFile, exact: Bool) async throws -> AudiencePlan {
        let app = try await appID(file.app)
        let (file, _) = try await resolvingTemplate(of: file, app: app)
        try await checkZone(of: file.schedule)
        let audience = try await writtenOut(file.audience ?? .all, app: app)
        var (plan, isOver) = try await reckon(file, audience: audience, app: app, exact: exact)
        plan.isOver = isOver ? true : nil
        return plan
    }

    /// What is wrong with a campaign of which nothing would be sent any more.
    package static let overProblem = Problem(
        pointer: "/schedule", code: ProblemCode.scheduleInvalid.rawValue,
        message: "It is over already: what is due last has expired, or no occurrence is left.",
        remedy: "Correct the schedule, or lengthen delivery.ttlSeconds.")

    /// An estimate as a run keeps it.
    func planRecord(_ file: CampaignFile, audience: Audience, app: App.ID) async throws -> PostgresJSON {
        try record(await reckon(file, audience: audience, app: app, exact: false).plan)
    }

    func record(_ plan: AudiencePlan) throws -> PostgresJSON {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return PostgresJSON(String(decoding: try encoder.encode(plan), as: UTF8.self))
    }

    /// - Returns: the plan, and whether nothing of the campaign would be sent any more.
    func reckon(
        _ file: CampaignFile, audience: Audience, app: App.ID, exact: Bool
    ) async throws -> (plan: AudiencePlan, isOver: Bool) {
        guard file.target == nil else {
            // One request; FCM alone knows to how many.
            var plan = AudiencePlan()
            (plan.targeted, plan.sent, plan.sampled) = (1, 1, 1)
            plan.transports = [.init(name: TransportKind.fcm.name, subscribers: 1)]
            return (plan, try await isOver(file, groups: []))
        }
        let rows = Double(try await client.query(.subscriberEstimate)[0].int64(0))
        let share = exact || rows <= Self.sampleSize ? 100 : 100 * Self.sampleSize / rows
        let isSilent = if case .inline(let message)? = file.message { message.silent } else { false }
        var statement = PlanStatement(
            app: app, predicate: try audience.predicate(), policies: file.schedule.policies, bounds: file.variantBounds,
            onePerUser: file.perUser == .newest, disturbance: file.disturbance, isSilent: isSilent, share: share)
        switch file.schedule {
        case .now: break
        case .at(let instant, _): statement.dueAt = instant
        case .local(let wall, _):
            let first = try await client.query(.zones(at: wall.text), deadline: .seconds(30))[0]
            statement.localAt = wall.text
            statement.begunAt = max(
                try await client.databaseNow(),
                Instant(microseconds: first.timestampMicroseconds(0) - RunTerms.lead.microseconds))
        case .cron(let cron, let zone, let policies):
            statement.dueAt = try await client.withConnection { connection in
                try await connection.firstOccurrence(of: cron, zone: zone, policies)
            }
        }
        let counted = try await client.query(statement.query, deadline: .seconds(300))
        let groups = try counted.map { try PlannedGroup($0, scale: 100 / share) }
        var plan = AudiencePlan(of: groups, for: file)
        plan.policies += try await limitPolicies(of: file, isSilent: isSilent, app: app)
        plan.exact = share >= 100
        plan.sampled = counted.reduce(0) { $0 + $1.int64(7) }
        return (plan, try await isOver(file, groups: groups))
    }

    /// Whether what is due last would have expired, whoever is due then, or a recurring campaign has no occurrence left.
    private func isOver(_ file: CampaignFile, groups: [PlannedGroup]) async throws -> Bool {
        let lastDue = groups.filter { $0.skip == nil }.map(\.dueAt).max()
        let life = file.delivery.life
        switch file.schedule {
        case .now: return false
        case .at(let instant, _):
            return try await max(lastDue ?? instant, instant) + life <= client.databaseNow()
        case .local:
            guard let lastDue else { return false }
            return try await lastDue + life <= client.databaseNow()
        case .cron(let cron, let zone, let policies):
            return try await client.withConnection { connection in
                try await connection.firstOccurrence(of: cron, zone: zone, policies)
            } == nil
        }
    }

    /// What the app's cap and quiet hours mean for a campaign; empty where neither is set.
    private func limitPolicies(of file: CampaignFile, isSilent: Bool, app: App.ID) async throws -> [String] {
        let limits = try await limits(of: app)
        func text(_ name: String, _ value: String, _ rule: Bypass.Rule) -> String {
            if isSilent { return "\(name): none, it shows nothing" }
            guard let bypass = file.disturbance.bypass, bypass.rules.contains(rule) else { return "\(name): \(value)" }
            return "\(name): bypassed, \(bypass.reason)"
        }
        var policies: [String] = []
        if let cap = limits.frequencyCap { policies.append(text("frequencyCap", cap, .frequencyCap)) }
        if let hours = limits.quietHours {
            let policy = file.disturbance.quietHours?.rawValue ?? limits.inQuietHours
            policies.append(text("quietHours", "\(hours), \(policy)", .quietHours))
        }
        return policies
    }

    /// What was planned for a run when it was made; nil = nothing was.
    package func storedPlan(of run: Run.ID) async throws -> AudiencePlan? {
        let rows = try await client.query("SELECT plan FROM pushfleet.run WHERE id = \(run.rawValue)")
        guard let row = rows.first, !row.isNull(0) else { return nil }
        return try JSONDecoder().decode(AudiencePlan.self, from: Data(row.json(0).utf8))
    }
}

extension PlannedGroup {
    fileprivate init(_ row: PostgresRow, scale: Double) throws {
        let skip = row.int16(4)
        self.init(
            transport: try stored(row.int16(0), "subscriber.transport"), route: row.int64(1),
            rate: row.int32OrNil(2).map(Int64.init), language: row.stringOrNil(3),
            skip: skip == 0 ? nil : try stored(skip, "delivery.reason"), variant: Int(row.int32(5)),
            dueAt: Instant(microseconds: row.timestampMicroseconds(6)), subscribers: Double(row.int64(7)) * scale)
        isDeferred = row.bool(8)
    }
}

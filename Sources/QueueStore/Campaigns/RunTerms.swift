import Domain
import Postgres

/// What a run is made of, whoever makes it: a command, or the scheduler when an occurrence is due.
struct RunTerms {
    var app: App.ID
    var campaign: Int64
    var file: CampaignFile
    /// With segments written out.
    var audience: Audience
    var content: ContentRevision
    var isTest = false
    /// As JSON; nil = none was made.
    var plan: PostgresJSON?

    /// When a run is due and what that means for its expansion.
    struct Times {
        var dueAt: Instant
        /// nil = when the run before it is over.
        var expandAt: Instant?
        var audienceAsOf: Instant
        var zoneRules: String?
        var localAt: String?
    }

    /// Before the first zone's hour, for the expansion to be ahead of it.
    static let lead = Duration.seconds(600)

    /// The times of a campaign's only run.
    func times(on connection: PostgresConnection) async throws -> Times {
        let now = Instant(microseconds: try await connection.query("SELECT now()")[0].timestampMicroseconds(0))
        switch file.schedule {
        case .now, .cron:
            return Times(dueAt: now, expandAt: now, audienceAsOf: now)
        case .at(let instant, let policies):
            let expandAt = policies.audienceAt == .schedule ? now : max(now, instant)
            return Times(dueAt: instant, expandAt: expandAt, audienceAsOf: expandAt)
        case .local(let wall, let policies):
            let row = try await connection.query(.zones(at: wall.text), deadline: .seconds(30))[0]
            guard !row.isNull(0) else { throw AdminError("schedule: the server knows no time zones") }
            let first = Instant(microseconds: row.timestampMicroseconds(0))
            let early = Instant(microseconds: first.microseconds - Self.lead.microseconds)
            let expandAt = policies.audienceAt == .schedule ? now : max(now, early)
            return Times(
                dueAt: first, expandAt: expandAt, audienceAsOf: expandAt, zoneRules: row.string(1), localAt: wall.text)
        }
    }

    /// - Returns: nil if this occurrence has a run already.
    func insert(
        occurrenceAt: Instant, times: Times, on connection: PostgresConnection
    ) async throws -> Run.ID? {
        let made = try await connection.query(insertion(occurrenceAt, times))
        guard let run = made.first?.int64(0) else { return nil }
        _ = try await connection.query(.beginProgress(of: run, app: app))
        _ = try await connection.query("SELECT pg_notify(\(HintListener.channel), '')")
        return Run.ID(run)
    }

    /// Jobs that a crash may leave in doubt at a time: few, where none of them is sent again.
    var announceWindow: Int16 { file.delivery.inDoubt == .assumeSent ? 100 : 5000 }

    /// Which rules do not hold: `run.exempt`.
    var exempt: PostgresFragment {
        """
        CASE
            WHEN \(isTest || file.target != nil) THEN 3
            ELSE (
                SELECT pushfleet.exempt_rules(said.message, said.delivery)
                FROM pushfleet.content_version said
                WHERE said.id = \(content.version)
            )
        END
        """
    }

    private func insertion(_ occurrenceAt: Instant, _ times: Times) -> PostgresQuery {
        let delivery = file.delivery
        let policies = file.schedule.policies
        let ttl = PostgresInterval(delivery.life)
        return """
            INSERT INTO pushfleet.run (
                app_id, campaign_id, occurrence_at, weight, in_doubt, announce_window, rate, content_version,
                variant_versions, variant_bounds, due_at, local_at, zone_rules, missing_zone, past_local, expand_at,
                audience, audience_as_of, ttl, one_per_user, is_test, plan, quiet_policy, exempt
            )
            VALUES (
                \(app.rawValue), \(campaign), \(occurrenceAt.timestamp), \(Int32(file.weight)),
                \(delivery.inDoubt.rawValue), \(announceWindow),
                \(file.perSecond.map(Int32.init)), \(content.version), \(content.variants),
                \(isTest ? nil : file.variantBounds), \(times.dueAt.timestamp), \(times.localAt)::text::timestamp,
                \(times.zoneRules), \(policies.missingZone.code), \(policies.pastLocal.code),
                coalesce(\(times.expandAt?.timestamp), 'infinity'), \(PostgresJSON(audience.json.text)),
                \(times.audienceAsOf.timestamp), \(ttl), \(file.perUser == .newest && !isTest), \(isTest),
                \(plan), \(file.disturbance.quietHours?.code), \(exempt)
            )
            ON CONFLICT (campaign_id, occurrence_at) DO NOTHING
            RETURNING id
            """
    }
}

extension Schedule.Policies.MissingZone {
    /// As `run.missing_zone` says it.
    var code: Int16 {
        switch self {
        case .appZone: 0
        case .skip: 1
        }
    }
}

extension Schedule.Policies.PastLocal {
    /// As `run.past_local` says it.
    var code: Int16 {
        switch self {
        case .sendNow: 0
        case .skip: 1
        case .nextDay: 2
        }
    }
}

extension PostgresQuery {
    /// The first instant at which some zone's clock shows a time, and a fingerprint of all zones' instants.
    static func zones(at wall: String) -> PostgresQuery {
        """
        SELECT min(zone.at), md5(string_agg(zone.name || zone.at::text, ',' ORDER BY zone.name))
        FROM (
            SELECT time_zone.name, pushfleet.local_instant(\(wall)::text::timestamp, time_zone.name) AS at
            FROM pushfleet.time_zone
        ) zone
        """
    }

    static func beginProgress(of run: Int64, app: App.ID) -> PostgresQuery {
        """
        WITH shards AS (SELECT unnest(shards) AS shard FROM pushfleet.app WHERE id = \(app.rawValue)),
        clocks AS (
            INSERT INTO pushfleet.lane_clock (shard, lane)
            SELECT shard, lane FROM shards CROSS JOIN (VALUES (0), (1)) lanes (lane)
            ON CONFLICT (shard, lane) DO NOTHING
        )
        INSERT INTO pushfleet.run_progress (shard, run_id)
        SELECT shard, \(run) FROM shards
        """
    }
}

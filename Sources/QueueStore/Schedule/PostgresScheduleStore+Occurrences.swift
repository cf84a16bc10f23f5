import Domain
import Postgres

extension PostgresScheduleStore {
    /// Occurrences of one campaign that one transaction takes on.
    private static let chunk = 100

    package func beginOccurrences() async throws -> BegunOccurrences {
        var begun = BegunOccurrences()
        for row in try await client.query(.dueCampaigns, deadline: .seconds(10)) {
            let campaign = row.int64(0)
            begun += try await client.withTransaction(deadline: .seconds(60)) { connection in
                try await begin(campaign, on: connection)
            }
        }
        begun.released = try await client.query(.releaseQueued, deadline: .seconds(10)).affected
        return begun
    }

    package func refreshTimeZones() async throws {
        _ = try await client.query("SELECT pushfleet.refresh_time_zones()::text", deadline: .seconds(60))
    }

    /// The campaign's row serialises schedulers; that an occurrence has one run is the table's own rule.
    private func begin(_ campaign: Int64, on connection: PostgresConnection) async throws -> BegunOccurrences {
        var begun = BegunOccurrences()
        guard let row = try await connection.query(.lockDue(campaign)).first else { return begun }
        let app = App.ID(row.int64(0))
        let file = try CampaignFile.parse(Array(row.json(1).utf8), mode: .strict)
        guard case .cron(let cron, let zone, let policies) = file.schedule else { return begun }
        let first = Instant(microseconds: row.timestampMicroseconds(2))
        let now = Instant(microseconds: row.timestampMicroseconds(3))
        // Only the last of many missed ones is looked for, unless all are wanted.
        var due = [first]
        var after = first
        repeat {
            let more = try await connection.occurrences(
                of: cron, zone: zone, after: after, upTo: earlier(now, policies.end), limit: Self.chunk)
            due = policies.missed == .all ? due + more : [(more.last ?? after)]
            begun.passedOver += policies.missed == .all ? 0 : more.count
            after = due[due.count - 1]
            if more.count < Self.chunk || policies.missed == .all { break }
        } while true
        let chosen = DueOccurrences.chosen(from: due, now: now, missed: policies.missed)
        begun.passedOver += due.count - chosen.count
        if !chosen.isEmpty {
            let audience = try await AdminStore(client).writtenOut(file.audience ?? .all, app: app)
            let terms = RunTerms(
                app: app, campaign: campaign, file: file, audience: audience,
                content: try await .latest(of: campaign, on: connection),
                plan: try await AdminStore(client).planRecord(file, audience: audience, app: app))
            for occurrence in chosen {
                let isMade = try await begin(occurrence, of: terms, now: now, policies.overlap, on: connection)
                if isMade { begun.begun += 1 } else { begun.passedOver += 1 }
            }
        }
        let next = try await connection.occurrences(
            of: cron, zone: zone, after: after, upTo: policies.end, limit: 1
        ).first
        _ = try await connection.query(.setNext(next, of: campaign))
        return begun
    }

    private func begin(
        _ occurrence: Instant, of terms: RunTerms, now: Instant, _ overlap: Schedule.Policies.Overlap,
        on connection: PostgresConnection
    ) async throws -> Bool {
        let sends = try await connection.query(.hasOpenRun(terms.campaign))[0].bool(0)
        if sends, overlap == .skip { return false }
        let times = RunTerms.Times(
            dueAt: occurrence, expandAt: sends && overlap == .queue ? nil : now, audienceAsOf: now)
        return try await terms.insert(occurrenceAt: occurrence, times: times, on: connection) != nil
    }

    private func earlier(_ instant: Instant, _ other: Instant?) -> Instant {
        other.map { min($0, instant) } ?? instant
    }
}

extension PostgresQuery {
    fileprivate static let dueCampaigns: PostgresQuery = """
        SELECT campaign.id
        FROM pushfleet.campaign
        WHERE campaign.state = 1 AND campaign.next_at <= now()
        ORDER BY campaign.next_at
        LIMIT 100
        """

    fileprivate static func lockDue(_ campaign: Int64) -> PostgresQuery {
        """
        SELECT campaign.app_id, campaign.body, campaign.next_at, now()
        FROM pushfleet.campaign
        WHERE campaign.id = \(campaign) AND campaign.state = 1 AND campaign.next_at <= now()
        FOR UPDATE SKIP LOCKED
        """
    }

    fileprivate static func hasOpenRun(_ campaign: Int64) -> PostgresQuery {
        """
        SELECT EXISTS (
            SELECT FROM pushfleet.run WHERE run.campaign_id = \(campaign) AND run.closed_at IS NULL
        )
        """
    }

    /// Without a next occurrence the campaign is over.
    fileprivate static func setNext(_ next: Instant?, of campaign: Int64) -> PostgresQuery {
        """
        UPDATE pushfleet.campaign
        SET next_at = \(next?.timestamp), state = CASE WHEN \(next?.timestamp) IS NULL THEN 3 ELSE state END
        WHERE id = \(campaign)
        """
    }

    /// Runs that wait for the one before them: the oldest of each campaign, once no other is open.
    fileprivate static let releaseQueued: PostgresQuery = """
        UPDATE pushfleet.run
        SET expand_at = now(), due_at = now(), audience_as_of = now()
        WHERE run.expand_at = 'infinity'
            AND run.status = 1
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.run before
                WHERE before.campaign_id = run.campaign_id AND before.id < run.id AND before.closed_at IS NULL
            )
        """
}

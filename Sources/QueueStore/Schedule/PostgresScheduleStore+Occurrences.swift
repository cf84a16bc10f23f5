import Domain
import Postgres

extension PostgresScheduleStore {
    /// Occurrences of one campaign that one transaction takes on.
    private static let chunk = 100

    package func beginOccurrences() async throws -> BegunOccurrences {
        var begun = BegunOccurrences()
        var failure: OccurrenceError?
        for row in try await client.query(.dueCampaigns, deadline: .seconds(10)) {
            let campaign = row.int64(0)
            do {
                begun += try await client.withTransaction(deadline: .seconds(60)) { connection in
                    try await begin(campaign, on: connection)
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                // One that cannot begin now holds up no other.
                failure = failure ?? OccurrenceError(campaign: campaign, underlying: error)
            }
        }
        begun.released = try await client.query(.releaseQueued, deadline: .seconds(10)).affected
        if let failure { throw failure }
        return begun
    }

    package func refreshTimeZones() async throws {
        _ = try await client.query("SELECT pushfleet.refresh_time_zones()::text", deadline: .seconds(60))
    }

    /// The campaign's row serialises schedulers; that an occurrence has one run is the table's own rule. What a file asks for
    /// and is no longer there, such as a segment, is kept as the campaign's problems, and its next occurrence tries again.
    private func begin(_ campaign: Int64, on connection: PostgresConnection) async throws -> BegunOccurrences {
        guard let row = try await connection.query(.lockDue(campaign)).first else { return BegunOccurrences() }
        let file: CampaignFile
        do {
            file = try CampaignFile.parse(Array(row.json(1).utf8), mode: .strict)
        } catch {
            // Not even its schedule can be read: there is no next occurrence.
            let problems = try PostgresJSON(problems: error.problems)
            _ = try await connection.query(.setNext(nil, of: campaign, problems: problems))
            return BegunOccurrences()
        }
        guard case .cron(let cron, let zone, let policies) = file.schedule else { return BegunOccurrences() }
        let now = Instant(microseconds: row.timestampMicroseconds(3))
        var (due, begun) = try await missed(
            since: Instant(microseconds: row.timestampMicroseconds(2)), upTo: earlier(now, policies.end),
            of: cron, zone: zone, policies, on: connection)
        let after = due[due.count - 1]
        let chosen = DueOccurrences.chosen(from: due, now: now, missed: policies.missed)
        begun.passedOver += due.count - chosen.count
        var problems: PostgresJSON?
        if !chosen.isEmpty {
            do {
                let terms = try await terms(of: file, app: App.ID(row.int64(0)), campaign: campaign, on: connection)
                for occurrence in chosen {
                    let isMade = try await begin(occurrence, of: terms, now: now, policies.overlap, on: connection)
                    if isMade { begun.begun += 1 } else { begun.passedOver += 1 }
                }
            } catch let error as ContentProblems {
                problems = try PostgresJSON(problems: error.problems)
            } catch let error as AdminError {
                problems = try PostgresJSON(problems: [error.problem])
            }
        }
        let next = try await connection.occurrences(
            of: cron, zone: zone, after: after, upTo: policies.end, limit: 1
        ).first
        _ = try await connection.query(.setNext(next, of: campaign, problems: problems))
        return begun
    }

    /// The occurrences from the first that has no run: all of a chunk if all are wanted, else only the last of many.
    private func missed(
        since first: Instant, upTo end: Instant, of cron: CronExpression, zone: String, _ policies: Schedule.Policies,
        on connection: PostgresConnection
    ) async throws -> (due: [Instant], begun: BegunOccurrences) {
        var begun = BegunOccurrences()
        var due = [first]
        while true {
            let more = try await connection.occurrences(
                of: cron, zone: zone, after: due[due.count - 1], upTo: end, limit: Self.chunk)
            if policies.missed == .all { return (due + more, begun) }
            due = [more.last ?? due[0]]
            begun.passedOver += more.count
            if more.count < Self.chunk { return (due, begun) }
        }
    }

    private func terms(
        of file: CampaignFile, app: App.ID, campaign: Int64, on connection: PostgresConnection
    ) async throws -> RunTerms {
        let audience = try await AdminStore(client).writtenOut(file.audience ?? .all, app: app)
        return RunTerms(
            app: app, campaign: campaign, file: file, audience: audience,
            content: try await .latest(of: campaign, on: connection),
            plan: try await AdminStore(client).planRecord(file, audience: audience, app: app))
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

    /// Without a next occurrence the campaign is over: refused, if what it asks for is why.
    fileprivate static func setNext(
        _ next: Instant?, of campaign: Int64, problems: PostgresJSON?
    ) -> PostgresQuery {
        """
        UPDATE pushfleet.campaign
        SET next_at = \(next?.timestamp),
            state = CASE
                WHEN \(next?.timestamp) IS NOT NULL THEN state
                WHEN \(problems)::jsonb IS NOT NULL THEN 2
                ELSE 3
            END,
            problems = \(problems)
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

/// Why the occurrences of a campaign cannot begin now.
private struct OccurrenceError: Error, CustomStringConvertible {
    let campaign: Int64
    let underlying: any Error

    var description: String { "campaign \(campaign): \(underlying)" }
}

import Domain
import Postgres

/// Pause, resume and cancel: a row of a small table each, whatever the run's size. The same functions serve SQL.
package struct ControlStore: Sendable {
    let client: PostgresClient

    package init(_ client: PostgresClient) { self.client = client }

    /// No request of the run begins later than a second from now.
    /// - Returns: false if the run is not running.
    package func pause(_ run: Run.ID) async throws -> Bool {
        try await client.query("SELECT pushfleet.pause(\(run.rawValue))", deadline: .seconds(5))[0].bool(0)
    }

    /// - Returns: false if the run is not paused.
    package func resume(_ run: Run.ID) async throws -> Bool {
        try await client.query("SELECT pushfleet.resume(\(run.rawValue))", deadline: .seconds(5))[0].bool(0)
    }

    /// Commits before it counts, so that the size of the run delays nothing.
    /// - Returns: nil if the run is over, or unknown.
    package func cancel(_ run: Run.ID) async throws -> CancelAnswer? {
        let stop = PostgresQuery.stop(run)
        guard try await client.query(stop, deadline: .seconds(5))[0].bool(0) else { return nil }
        let row = try await client.query(.stopped(run), deadline: .seconds(60))[0]
        return CancelAnswer(
            run: run.rawValue, delivered: row.int64(0), inFlightAtMost: row.int64(1), stoppedAtLeast: row.int64(2))
    }

    /// Stops all runs and notifications of an app, as `pause` does one run.
    /// - Returns: false if it was paused already.
    package func pauseApp(_ name: String) async throws -> Bool {
        _ = try await AdminStore(client).appID(name)
        return try await client.query("SELECT pushfleet.pause_app(\(name))", deadline: .seconds(5))[0].bool(0)
    }

    /// - Returns: false if it was not paused.
    package func resumeApp(_ name: String) async throws -> Bool {
        _ = try await AdminStore(client).appID(name)
        return try await client.query("SELECT pushfleet.resume_app(\(name))", deadline: .seconds(5))[0].bool(0)
    }

    /// The runs that a user means: a run's number, or the name of a campaign, which stands for all its open runs.
    /// - Parameter app: tells campaigns of the same name apart.
    /// - Throws: `AdminError` when nothing open has that name, or several apps do.
    package func runs(named name: String, app: String?) async throws -> [Run.ID] {
        if let number = Int64(name) { return [Run.ID(number)] }
        let (runs, coming) = try await open(named: name, app: app)
        guard !runs.isEmpty else {
            guard coming.isEmpty else {
                throw AdminError("run: campaign '\(name)' has no open run now; end it: pushfleet campaign cancel")
            }
            throw AdminError("run: no campaign '\(name)' has an open run; see: pushfleet campaign list")
        }
        return runs
    }

    /// Ends what a user means for good: of a campaign's name all its open runs, and no further one begins.
    /// - Throws: as `runs(named:app:)`.
    package func cancel(named name: String, app: String?) async throws -> (ended: [Campaign.ID], runs: [CancelAnswer]) {
        var ended: [Campaign.ID] = []
        if Int64(name) == nil {
            for campaign in try await open(named: name, app: app).coming where try await end(campaign) {
                ended.append(campaign)
            }
        }
        // Looked for afterwards: one may have begun meanwhile. What ended needs none.
        let runs = ended.isEmpty ? try await runs(named: name, app: app) : try await open(named: name, app: app).runs
        var answers: [CancelAnswer] = []
        for run in runs {
            if let answer = try await cancel(run) { answers.append(answer) }
        }
        return (ended, answers)
    }

    /// No further run of the campaign begins.
    /// - Returns: false if none was to come.
    package func end(_ campaign: Campaign.ID) async throws -> Bool {
        try await client.query("SELECT pushfleet.end_campaign(\(campaign.rawValue))", deadline: .seconds(5))[0].bool(0)
    }

    /// What campaigns of that name have open, and which of them have a run to come.
    private func open(named name: String, app: String?) async throws -> (runs: [Run.ID], coming: [Campaign.ID]) {
        let rows = try await client.query(.open(named: name, app: app), deadline: .seconds(5))
        let apps = Set(rows.map { $0.string(1) })
        guard apps.count <= 1 else {
            throw AdminError("run: '\(name)' is a campaign of \(apps.sorted().joined(separator: ", ")); add --app APP")
        }
        return (
            rows.compactMap { $0.int64OrNil(0).map { Run.ID($0) } },
            rows.compactMap { $0.int64OrNil(2).map { Campaign.ID($0) } }
        )
    }
}

/// What is known at the moment of a cancel; exact figures stand once the run is settled.
package struct CancelAnswer: Codable, Sendable, Equatable {
    package let run: Int64
    package let delivered: Int64
    /// Announced and without an outcome.
    package let inFlightAtMost: Int64
    package let stoppedAtLeast: Int64
}

extension PostgresQuery {
    static func stop(_ run: Run.ID) -> PostgresQuery { "SELECT pushfleet.stop(\(run.rawValue))" }

    static func stopped(_ run: Run.ID) -> PostgresQuery {
        "SELECT delivered, in_flight_at_most, stopped FROM pushfleet.stopped(\(run.rawValue))"
    }

    /// A row for each open run, and one for each campaign that has a run to come.
    static func open(named name: String, app: String?) -> PostgresQuery {
        """
        WITH meant AS (
            SELECT campaign.id, campaign.state, campaign.next_at, app.name AS app
            FROM pushfleet.campaign
            JOIN pushfleet.app ON app.id = campaign.app_id
            WHERE campaign.name = \(name) AND (\(app)::text IS NULL OR app.name = \(app))
        )
        SELECT run.id, meant.app, NULL::bigint
        FROM meant
        JOIN pushfleet.run ON run.campaign_id = meant.id AND run.closed_at IS NULL AND run.status IN (1, 2)
        UNION ALL
        SELECT NULL, meant.app, meant.id
        FROM meant
        WHERE meant.state = 0 OR meant.state = 1 AND meant.next_at IS NOT NULL
        ORDER BY 1, 3
        """
    }
}

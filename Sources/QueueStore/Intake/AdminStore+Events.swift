import Domain
import Postgres

/// What devices told of a run's notifications, each counted once.
package struct EventFigures: Sendable, Encodable {
    package let run: Int64
    /// What the provider accepted.
    package let accepted: Int64
    package let delivered, shown, opened, actions, dismissed: Int64
    /// Opened, of those accepted; nil where nothing was.
    package let clickRate: ProportionInterval?

    package init(
        run: Int64, accepted: Int64, delivered: Int64, shown: Int64, opened: Int64, actions: Int64, dismissed: Int64
    ) {
        self.run = run
        self.accepted = accepted
        self.delivered = delivered
        self.shown = shown
        self.opened = opened
        self.actions = actions
        self.dismissed = dismissed
        // A device may tell sooner than deliveries are counted.
        clickRate = ProportionInterval(successes: min(opened, accepted), of: accepted)
    }
}

extension AdminStore {
    /// Of those runs that devices told something of.
    package func events(ofRuns runs: [Int64]) async throws -> [EventFigures] {
        let rows = try await client.query(
            """
            SELECT run_id, ARRAY[accepted, delivered, shown, opened, actions, dismissed]
            FROM pushfleet_report.events
            WHERE run_id = ANY(\(runs))
            ORDER BY run_id
            """, deadline: .seconds(60))
        return rows.map { row in
            let n = row.int64Array(1)
            return EventFigures(
                run: row.int64(0), accepted: n[0], delivered: n[1], shown: n[2], opened: n[3], actions: n[4],
                dismissed: n[5])
        }
    }
}

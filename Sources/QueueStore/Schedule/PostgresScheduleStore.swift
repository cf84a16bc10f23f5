import Domain
import Logging
import Postgres

/// The scheduler's side of the queue in PostgreSQL.
package struct PostgresScheduleStore: ScheduleStore {
    let client: PostgresClient
    let hints: HintListener?
    let checkpoints: Checkpoints
    let meter: (any MessageMeter)?

    /// - Parameter hints: waits for word of new work; nil = polling alone, as behind a pooler in transaction mode.
    /// - Parameter meter: weighs campaigns that came through SQL before they begin.
    package init(
        client: PostgresClient, hints: HintListener? = nil, checkpoints: Checkpoints = .none,
        meter: (any MessageMeter)? = nil
    ) {
        self.client = client
        self.hints = hints
        self.checkpoints = checkpoints
        self.meter = meter
    }

    package func shards() async throws -> [Shard] { try await client.shards() }

    package func ensureDays() async throws {
        _ = try await client.query(.ensureDays, deadline: .seconds(30))
    }

    package func waitForHint(atMost span: Duration) async {
        if let hints { return await hints.wait(atMost: span) }
        do {
            try await Task.sleep(for: span)
        } catch {
            // Cancelled: the caller looks at that itself.
        }
    }
}

import Domain
import Logging
import Postgres

/// The janitor's side of the queue in PostgreSQL.
package struct PostgresHousekeepingStore: HousekeepingStore {
    let client: PostgresClient
    let evacuateAfter: Duration
    let checkpoints: Checkpoints
    let logger: Logger

    /// - Parameter evacuateAfter: how long a sealed job partition may be pinned by open batches before these move out.
    package init(
        client: PostgresClient, evacuateAfter: Duration = .seconds(86_400), checkpoints: Checkpoints = .none,
        logger: Logger = Logger(label: "pushfleet.queue")
    ) {
        self.client = client
        self.evacuateAfter = evacuateAfter
        self.checkpoints = checkpoints
        self.logger = logger
    }

    package func shards() async throws -> [Shard] { try await client.shards() }

    package func ensureDays() async throws {
        _ = try await client.query(.ensureDays, deadline: .seconds(30))
    }
}

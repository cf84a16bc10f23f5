import Domain
import Logging
import Postgres

/// The worker's side of the queue in PostgreSQL.
///
/// Flushes have connections of their own, so that a heartbeat never waits behind a claim or the reading of jobs.
package struct PostgresBatchStore: BatchStore {
    let claims: PostgresClient
    let flushes: PostgresClient
    let checkpoints: Checkpoints
    let logger: Logger

    /// - Parameters:
    ///   - claims: for everything but flushes.
    ///   - flushes: for `flush` alone.
    ///   - checkpoints: reached around each statement that changes something.
    package init(
        claims: PostgresClient, flushes: PostgresClient, checkpoints: Checkpoints = .none,
        logger: Logger = Logger(label: "pushfleet.queue")
    ) {
        self.claims = claims
        self.flushes = flushes
        self.checkpoints = checkpoints
        self.logger = logger
    }

    package func shards() async throws -> [Shard] { try await claims.shards() }

    package func now() async throws -> Instant { try await claims.databaseNow() }
}

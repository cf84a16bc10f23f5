import Domain
import Postgres

/// The janitor's statements. One connection is enough: they follow one another.
package struct PostgresHousekeepingStore: HousekeepingStore {
    let client: PostgresClient
    /// Buckets sealed for longer than this are emptied into the current one, so that a slow run pins no partition.
    let evacuateAfter: Duration

    package init(_ client: PostgresClient, evacuateAfter: Duration = .seconds(86_400)) {
        self.client = client
        self.evacuateAfter = evacuateAfter
    }

    package func shards() async throws -> [Shard] { try await client.shards() }

    package func sight(as janitor: WorkerID, longestGap: Duration) async throws {
        _ = try await client.query(.sight(janitor: janitor, longestGap: longestGap))
    }

    package func forgetWorkers(lapsedFor span: Duration) async throws {
        _ = try await client.query(
            """
            DELETE FROM pushfleet.worker w
            WHERE w.lease_until < now() - \(PostgresInterval(span))
                AND NOT EXISTS (SELECT FROM pushfleet.batch b WHERE b.holder = w.id AND b.state = 1)
            """)
    }

    package func ensureDays() async throws {
        _ = try await client.query("SELECT 1 FROM pushfleet.ensure_days(7)", deadline: .seconds(30))
    }
}

extension PostgresClient {
    /// The shards that any app's subscribers lie in.
    func shards() async throws(PostgresError) -> [Shard] {
        let rows = try await query("SELECT DISTINCT unnest(shards) AS shard FROM pushfleet.app ORDER BY shard")
        return rows.map { Shard(rawValue: $0.int16(0)) }
    }
}

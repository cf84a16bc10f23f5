import Domain
import Postgres

extension PostgresBatchStore {
    /// Keeps where addresses of Apple's proved to belong: the next notification is sent there first. Compares and sets, so
    /// that a repeat finds nothing to do.
    func correctEnvironments(_ flush: Flush) async throws {
        let moved = flush.items.filter { $0.environment != nil && $0.addressVersion != nil }
        guard !moved.isEmpty else { return }
        _ = try await claims.query(.correctEnvironments(moved, in: flush.shard), deadline: .seconds(5))
    }
}

extension PostgresQuery {
    static func correctEnvironments(_ items: [Flush.Item], in shard: Shard) -> PostgresQuery {
        """
        WITH proven AS MATERIALIZED (
            SELECT s.id, answer.environment
            FROM unnest(
                \(items.map(\.subscriber.rawValue)), \(items.map { $0.addressVersion ?? 0 }),
                \(items.map { $0.environment?.rawValue ?? 0 })
            ) AS answer (subscriber_id, address_version, environment)
            JOIN pushfleet.subscriber s ON s.shard = \(shard.rawValue) AND s.id = answer.subscriber_id
            WHERE s.address_version = answer.address_version AND s.environment <> answer.environment
            ORDER BY s.id
            FOR UPDATE OF s
        )
        UPDATE pushfleet.subscriber s
        SET environment = proven.environment
        FROM proven
        WHERE s.shard = \(shard.rawValue) AND s.id = proven.id
        """
    }
}

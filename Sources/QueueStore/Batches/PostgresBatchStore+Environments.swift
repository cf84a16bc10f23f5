import Domain
import Postgres

extension PostgresBatchStore {
    package func correctEnvironments(_ proven: [ProvenEnvironment], in shard: Shard) async throws {
        guard !proven.isEmpty else { return }
        _ = try await claims.query(.correctEnvironments(proven, in: shard), deadline: .seconds(5))
    }
}

extension PostgresQuery {
    /// Compares and sets, so that a repeat finds nothing to do.
    static func correctEnvironments(_ proven: [ProvenEnvironment], in shard: Shard) -> PostgresQuery {
        """
        WITH proven AS MATERIALIZED (
            SELECT s.id, answer.environment
            FROM unnest(
                \(proven.map(\.subscriber.rawValue)), \(proven.map(\.addressVersion)),
                \(proven.map(\.environment.rawValue))
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

import Domain
import Postgres

extension PostgresScheduleStore {
    package func refreshHeads(of shard: Shard, lane: Lane) async throws {
        _ = try await client.query(RefreshHeadsStatement(shard: shard, lane: lane).query, deadline: .seconds(10))
    }
}

import Domain
import Postgres

extension PostgresBatchStore {
    package func heads(of shard: Shard, lane: Lane, without sated: Sated) async throws -> [Pair] {
        try await claims.query(.readHeads(of: shard, lane: lane, without: sated), deadline: .seconds(5)).map { row in
            Pair(run: Run.ID(row.int64(0)), route: Route.ID(row.int64(1)))
        }
    }
}

extension PostgresQuery {
    /// The first eight pairs of the lane from its virtual time on. No head lies below that, and whatever index entries do
    /// are dead: so the cost grows neither with the runs nor with their past.
    static func readHeads(of shard: Shard, lane: Lane, without sated: Sated = Sated()) -> PostgresQuery {
        let runs = sated.runs.map(\.rawValue)
        let routes = sated.routes.map(\.rawValue)
        return """
            SELECT pair.run_id, pair.route_id
            FROM pushfleet.run_route pair
            WHERE pair.shard = \(shard.rawValue)
                AND pair.lane = \(lane.rawValue)
                AND pair.head >= (
                    SELECT clock.vtime
                    FROM pushfleet.lane_clock clock
                    WHERE clock.shard = \(shard.rawValue) AND clock.lane = \(lane.rawValue)
                )
                AND pair.run_id <> ALL (\(runs))
                AND pair.route_id <> ALL (\(routes))
            ORDER BY pair.head
            LIMIT 8
            """
    }
}

import Domain
import Postgres

extension PostgresHousekeepingStore {
    /// Lock first, look second: two statements of one transaction per pair, so that a batch which returns to ready
    /// meanwhile is either seen or lowers the mark afterwards.
    package func raiseWatermarks(shard: Shard) async throws {
        let pairs = try await client.query(
            """
            SELECT run_id, route_id FROM pushfleet.run_route
            WHERE shard = \(shard.rawValue) AND head IS NOT NULL
            """)
        for pair in pairs {
            let (run, route) = (pair.int64(0), pair.int64(1))
            try await client.withTransaction { connection in
                _ = try await connection.query(
                    """
                    SELECT low_tag FROM pushfleet.run_route
                    WHERE shard = \(shard.rawValue) AND run_id = \(run) AND route_id = \(route)
                    FOR NO KEY UPDATE
                    """)
                _ = try await connection.query(.raiseWatermark(shard: shard, run: run, route: route))
            }
        }
    }

    package func sweep(shard: Shard) async throws -> Int {
        try await client.query(
            """
            WITH below AS MATERIALIZED (
                SELECT b.run_id, b.route_id, min(b.tag) AS tag
                FROM pushfleet.run_route pair
                JOIN pushfleet.batch b
                    ON b.shard = \(shard.rawValue) AND b.run_id = pair.run_id AND b.route_id = pair.route_id
                    AND b.state = 0 AND b.tag < pair.low_tag
                WHERE pair.shard = \(shard.rawValue)
                GROUP BY b.run_id, b.route_id
            )
            UPDATE pushfleet.run_route pair
            SET low_tag = below.tag
            FROM below
            WHERE pair.shard = \(shard.rawValue) AND pair.run_id = below.run_id AND pair.route_id = below.route_id
                AND pair.low_tag > below.tag
            RETURNING pair.run_id
            """
        ).count
    }
}

extension PostgresQuery {
    /// Writes only when the mark moves: each write leaves a dead version of the pair's row behind.
    static func raiseWatermark(shard: Shard, run: Int64, route: Int64) -> PostgresQuery {
        """
        UPDATE pushfleet.run_route pair
        SET low_tag = ready.tag
        FROM (
            SELECT min(b.tag) AS tag
            FROM pushfleet.batch b
            WHERE b.shard = \(shard.rawValue) AND b.run_id = \(run) AND b.route_id = \(route) AND b.state = 0
                AND b.tag >= (
                    SELECT low_tag FROM pushfleet.run_route
                    WHERE shard = \(shard.rawValue) AND run_id = \(run) AND route_id = \(route)
                )
        ) ready
        WHERE pair.shard = \(shard.rawValue) AND pair.run_id = \(run) AND pair.route_id = \(route)
            AND ready.tag > pair.low_tag
        """
    }
}

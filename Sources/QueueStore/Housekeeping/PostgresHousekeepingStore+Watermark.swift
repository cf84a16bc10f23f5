import Domain
import Postgres

extension PostgresHousekeepingStore {
    /// One transaction of two statements for each pair: lock first, look second. The list only saves locks where there is
    /// nothing to raise.
    package func raiseWatermarks(shard: Shard) async throws {
        for row in try await client.query(.risenPairs(of: shard), deadline: .seconds(10)) {
            let pair = Pair(run: Run.ID(row.int64(0)), route: Route.ID(row.int64(1)))
            try await client.withTransaction(deadline: .seconds(10)) { connection in
                _ = try await connection.query(.lockWatermark(of: pair, shard: shard), deadline: .seconds(10))
                _ = try await connection.query(.raiseWatermark(of: pair, shard: shard), deadline: .seconds(10))
            }
        }
    }

    package func sweep(shard: Shard) async throws -> Int {
        try await client.query(.sweep(shard), deadline: .seconds(30)).count
    }
}

extension PostgresQuery {
    /// Pairs whose first ready batch lies above their mark, and those that have none although tags were given out.
    static func risenPairs(of shard: Shard) -> PostgresQuery {
        """
        SELECT pair.run_id, pair.route_id
        FROM pushfleet.run_route pair
        LEFT JOIN LATERAL (
            SELECT b.tag
            FROM pushfleet.batch b
            -- By the one index that has these expressions: see migration 0093.
            WHERE b.shard + 0 = \(shard.rawValue)
                AND b.run_id + 0 = pair.run_id
                AND b.route_id + 0 = pair.route_id
                AND b.state + 0 = 0
                AND b.tag >= pair.low_tag
            ORDER BY b.tag
            LIMIT 1
        ) first ON true
        WHERE pair.shard = \(shard.rawValue)
            AND pair.low_tag <= pair.last_tag
            AND coalesce(first.tag, pair.last_tag + 1) > pair.low_tag
        """
    }

    static func lockWatermark(of pair: Pair, shard: Shard) -> PostgresQuery {
        """
        SELECT low_tag
        FROM pushfleet.run_route
        WHERE shard = \(shard.rawValue) AND run_id = \(pair.run.rawValue) AND route_id = \(pair.route.rawValue)
        FOR NO KEY UPDATE
        """
    }

    /// To the first ready batch; where there is none, past the last tag given out, above which the next page begins.
    static func raiseWatermark(of pair: Pair, shard: Shard) -> PostgresQuery {
        """
        UPDATE pushfleet.run_route pair
        SET low_tag = first.tag
        FROM (
            SELECT coalesce(ready.tag, marked.last_tag + 1) AS tag
            FROM pushfleet.run_route marked
            LEFT JOIN LATERAL (
                SELECT b.tag
                FROM pushfleet.batch b
                WHERE b.shard + 0 = \(shard.rawValue)
                    AND b.run_id + 0 = \(pair.run.rawValue)
                    AND b.route_id + 0 = \(pair.route.rawValue)
                    AND b.state + 0 = 0
                    AND b.tag >= marked.low_tag
                ORDER BY b.tag
                LIMIT 1
            ) ready ON true
            WHERE marked.shard = \(shard.rawValue)
                AND marked.run_id = \(pair.run.rawValue)
                AND marked.route_id = \(pair.route.rawValue)
        ) first
        WHERE pair.shard = \(shard.rawValue)
            AND pair.run_id = \(pair.run.rawValue)
            AND pair.route_id = \(pair.route.rawValue)
            AND first.tag > pair.low_tag
        """
    }

    /// Proves the marks, under the pairs' locks. A row is a defect, which it mends.
    static func sweep(_ shard: Shard) -> PostgresQuery {
        """
        WITH below AS MATERIALIZED (
            SELECT b.run_id, b.route_id, min(b.tag) AS tag
            FROM pushfleet.run_route pair
            JOIN pushfleet.batch b
                ON b.shard = \(shard.rawValue)
                AND b.run_id = pair.run_id
                AND b.route_id = pair.route_id
                AND b.state = 0
                AND b.tag < pair.low_tag
            WHERE pair.shard = \(shard.rawValue)
            GROUP BY b.run_id, b.route_id
        )
        UPDATE pushfleet.run_route pair
        SET low_tag = below.tag
        FROM below
        WHERE pair.shard = \(shard.rawValue)
            AND pair.run_id = below.run_id
            AND pair.route_id = below.route_id
            AND pair.low_tag > below.tag
        RETURNING pair.run_id
        """
    }
}

import Domain
import Postgres

extension PostgresScheduleStore {
    package func promote(shard: Shard, limit: Int32) async throws -> Int {
        try await client.query(.promote(shard: shard, limit: limit), deadline: .seconds(10)).affected
    }
}

extension PostgresQuery {
    /// Makes scheduled batches that are due ready, and lowers the marks of their pairs with it: the watermark rule.
    static func promote(shard: Shard, limit: Int32) -> PostgresQuery {
        """
        WITH due AS MATERIALIZED (
            SELECT b.id, b.run_id, b.route_id, b.tag
            FROM pushfleet.batch b
            -- By the one index that has these expressions: see migration 0093.
            WHERE b.shard + 0 = \(shard.rawValue) AND b.state + 0 = 5 AND b.due_at <= now()
            ORDER BY b.due_at
            LIMIT \(limit)
            FOR UPDATE SKIP LOCKED
        ),
        pairs AS MATERIALIZED (
            SELECT pair.run_id, pair.route_id
            FROM pushfleet.run_route pair
            WHERE pair.shard = \(shard.rawValue)
                AND (pair.run_id, pair.route_id) IN (SELECT due.run_id, due.route_id FROM due)
            ORDER BY pair.run_id, pair.route_id
            FOR NO KEY UPDATE
        ),
        lowered AS (
            UPDATE pushfleet.run_route pair
            SET low_tag = least(pair.low_tag, lowest.tag)
            FROM (
                SELECT due.run_id, due.route_id, min(due.tag) AS tag
                FROM due
                JOIN pairs USING (run_id, route_id)
                GROUP BY due.run_id, due.route_id
            ) lowest
            WHERE pair.shard = \(shard.rawValue)
                AND pair.run_id = lowest.run_id
                AND pair.route_id = lowest.route_id
        )
        UPDATE pushfleet.batch b
        SET state = 0
        FROM due
        WHERE b.shard = \(shard.rawValue) AND b.id = due.id
        """
    }
}

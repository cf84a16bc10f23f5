import Domain
import Postgres

extension PostgresScheduleStore {
    /// - Parameter limit: jobs of one batch at most.
    package func rebatch(shard: Shard, limit: Int32) async throws -> Int {
        var total = 0
        for row in try await client.query(.dueRetries(of: shard), deadline: .seconds(10)) {
            let group = RetryGroup(
                run: row.int64(0), route: row.int64(1), expiresAt: PostgresTimestamp(row, 2),
                contentVersion: row.int64(3))
            var left = row.int64(4)
            while left > 0 {
                checkpoints.reach(.beforeRebatch)
                let statement = RebatchStatement(group: group, shard: shard, limit: limit)
                let made = try await client.query(statement.query, deadline: .seconds(10)).first
                checkpoints.reach(.afterRebatch)
                // Another scheduler took what was listed.
                guard let made else { break }
                total += Int(made.int32(0))
                left -= Int64(max(1, made.int32(0)))
            }
        }
        return total
    }
}

/// Retries that can share a batch.
struct RetryGroup {
    var run: Int64
    var route: Int64
    var expiresAt: PostgresTimestamp
    var contentVersion: Int64
}

extension PostgresTimestamp {
    fileprivate init(_ row: PostgresRow, _ column: Int) {
        self.init(microseconds: row.timestampMicroseconds(column))
    }
}

extension PostgresQuery {
    /// The groups that are due, once they fill a batch or wait for a second: a batch for every straggler would be a row
    /// queue. Those of a paused run do not count towards the limit, or they would hold up everybody's.
    static func dueRetries(of shard: Shard) -> PostgresQuery {
        """
        SELECT due.run_id, due.route_id, due.expires_at, due.content_version, count(*) AS n
        FROM (
            SELECT retry.run_id, retry.route_id, retry.expires_at, retry.content_version, retry.due_at
            FROM pushfleet.retry
            JOIN pushfleet.run ON run.id = retry.run_id AND run.status = 1
            WHERE retry.shard = \(shard.rawValue) AND retry.due_at <= now()
            ORDER BY retry.due_at
            LIMIT 50000
        ) due
        WHERE due.expires_at > now()
        GROUP BY due.run_id, due.route_id, due.expires_at, due.content_version
        HAVING count(*) >= 100 OR min(due.due_at) < now() - interval '1 s'
        """
    }
}

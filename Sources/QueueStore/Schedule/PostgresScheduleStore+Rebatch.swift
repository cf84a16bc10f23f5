import Domain
import Postgres

extension PostgresScheduleStore {
    /// How long one call goes on, so that what comes after it has its turn: the next call goes on with the rest.
    private static let turn = Duration.seconds(1)

    /// - Parameter limit: jobs of one batch at most.
    package func rebatch(shard: Shard, limit: Int32) async throws -> Int {
        let end = ContinuousClock.now + Self.turn
        var total = 0
        for row in try await client.query(.dueRetries(of: shard), deadline: .seconds(10)) {
            let group = RetryGroup(row)
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
                if ContinuousClock.now >= end { return total }
            }
        }
        return total
    }
}

/// Retries that can share a batch.
struct RetryGroup {
    var run: Int64
    var route: Int64
    /// nil = of single notifications, each of which has its own.
    var expiresAt: PostgresTimestamp?
    var contentVersion: Int64

    /// - Parameter row: of `dueRetries`.
    init(_ row: PostgresRow) {
        run = row.int64(0)
        route = row.int64(1)
        expiresAt = row.timestampMicrosecondsOrNil(2).map { PostgresTimestamp(microseconds: $0) }
        contentVersion = row.int64(3)
    }
}

extension PostgresQuery {
    /// The groups that are due, once they fill a batch or wait for a second: a batch for every straggler would be a row
    /// queue. Single notifications expire each at its own instant, and share batches all the same. The pairs that have retries are found by stepping from one to the next in the index, so that what a paused
    /// run left there, or what is not due yet, is not read; and each pair has its part of the limit, so that none holds
    /// up the others.
    static func dueRetries(of shard: Shard) -> PostgresQuery {
        """
        WITH RECURSIVE pair AS (
            (
                SELECT retry.run_id, retry.route_id
                FROM pushfleet.retry
                WHERE retry.shard = \(shard.rawValue)
                ORDER BY retry.run_id, retry.route_id
                LIMIT 1
            )
            UNION ALL
            SELECT next.run_id, next.route_id
            FROM pair
            CROSS JOIN LATERAL (
                SELECT retry.run_id, retry.route_id
                FROM pushfleet.retry
                WHERE retry.shard = \(shard.rawValue)
                    AND (retry.run_id, retry.route_id) > (pair.run_id, pair.route_id)
                ORDER BY retry.run_id, retry.route_id
                LIMIT 1
            ) next
        ),
        due AS (
            SELECT pair.run_id, pair.route_id, CASE WHEN NOT run.standing THEN waiting.expires_at END AS expires_at,
                waiting.content_version, waiting.due_at
            FROM pair
            JOIN pushfleet.run ON run.id = pair.run_id AND run.status = 1
            CROSS JOIN LATERAL (
                SELECT retry.expires_at, retry.content_version, retry.due_at
                FROM pushfleet.retry
                WHERE retry.shard = \(shard.rawValue)
                    AND retry.run_id = pair.run_id
                    AND retry.route_id = pair.route_id
                    AND retry.due_at <= now()
                ORDER BY retry.due_at
                LIMIT 5000
            ) waiting
            WHERE waiting.expires_at > now()
            LIMIT 50000
        )
        SELECT due.run_id, due.route_id, due.expires_at, due.content_version, count(*) AS n
        FROM due
        GROUP BY due.run_id, due.route_id, due.expires_at, due.content_version
        HAVING count(*) >= 100 OR min(due.due_at) < now() - interval '1 s'
        ORDER BY min(due.due_at)
        """
    }
}

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
                let query = PostgresQuery.rebatch(group, shard: shard, limit: limit)
                let made = try await client.query(query, deadline: .seconds(10)).first
                checkpoints.reach(.afterRebatch)
                // Another scheduler took what was listed.
                guard let made else { break }
                total += Int(made.int32(0))
                left -= Int64(limit)
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
    /// queue.
    static func dueRetries(of shard: Shard) -> PostgresQuery {
        """
        SELECT due.run_id, due.route_id, due.expires_at, due.content_version, count(*) AS n
        FROM (
            SELECT retry.run_id, retry.route_id, retry.expires_at, retry.content_version, retry.due_at
            FROM pushfleet.retry
            WHERE retry.shard = \(shard.rawValue) AND retry.due_at <= now()
            ORDER BY retry.due_at
            LIMIT 50000
        ) due
        JOIN pushfleet.run ON run.id = due.run_id AND run.status = 1
        WHERE due.expires_at > now()
        GROUP BY due.run_id, due.route_id, due.expires_at, due.content_version
        HAVING count(*) >= 100 OR min(due.due_at) < now() - interval '1 s'
        """
    }

    /// Cuts a group's due retries into one batch at the head of its pair, under the pair's lock.
    static func rebatch(_ group: RetryGroup, shard: Shard, limit: Int32) -> PostgresQuery {
        """
        WITH due AS MATERIALIZED (
            SELECT retry.number
            FROM pushfleet.retry
            JOIN pushfleet.run ON run.id = retry.run_id AND run.status = 1
            WHERE retry.shard = \(shard.rawValue)
                AND retry.run_id = \(group.run)
                AND retry.route_id = \(group.route)
                AND retry.expires_at = \(group.expiresAt)
                AND retry.content_version = \(group.contentVersion)
                AND retry.due_at <= now()
            ORDER BY retry.number
            LIMIT \(limit)
            FOR UPDATE OF retry SKIP LOCKED
        ),
        taken AS (
            DELETE FROM pushfleet.retry
            USING due
            WHERE retry.shard = \(shard.rawValue) AND retry.run_id = \(group.run) AND retry.number = due.number
            RETURNING retry.number, retry.subscriber_id, retry.attempts, retry.doubtful
        ),
        placed AS MATERIALIZED (
            SELECT taken.number, taken.subscriber_id, taken.attempts, taken.doubtful,
                (row_number() OVER (ORDER BY taken.number) - 1)::smallint AS ordinal
            FROM taken
        ),
        pair AS MATERIALIZED (
            -- A subscriber that changed its route opens a pair that may not exist yet.
            INSERT INTO pushfleet.run_route AS rr (shard, run_id, route_id, lane)
            SELECT \(shard.rawValue), \(group.run), \(group.route), run.lane
            FROM pushfleet.run
            WHERE run.id = \(group.run) AND EXISTS (SELECT FROM taken)
            ON CONFLICT (shard, run_id, route_id) DO UPDATE SET low_tag = rr.low_tag
            RETURNING rr.low_tag
        ),
        target AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id,
                (SELECT max(bucket.id) FROM pushfleet.bucket WHERE bucket.sealed_at IS NULL) AS bucket_id,
                pair.low_tag AS tag
            FROM pair
        ),
        jobs AS (
            INSERT INTO pushfleet.job (
                shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal, attempts
            )
            SELECT \(shard.rawValue), target.bucket_id, target.batch_id, \(group.run), placed.number,
                placed.subscriber_id, placed.ordinal, placed.attempts
            FROM placed
            CROSS JOIN target
            RETURNING ordinal
        )
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id,
            content_version, bucket_id, size, state, origin, marked, doubtful
        )
        SELECT \(shard.rawValue), target.batch_id, \(group.run), \(group.route), target.tag, now(),
            \(group.expiresAt), whole.first_id, whole.last_id, \(group.contentVersion), target.bucket_id, whole.n, 0, 1,
            repeat('0', whole.n)::varbit, whole.doubtful
        FROM target
        CROSS JOIN (
            SELECT count(*)::int AS n, min(placed.subscriber_id) AS first_id, max(placed.subscriber_id) AS last_id,
                CASE WHEN bool_or(placed.doubtful) THEN
                    string_agg(CASE WHEN placed.doubtful THEN '1' ELSE '0' END, '' ORDER BY placed.ordinal)::varbit
                END AS doubtful
            FROM placed
        ) whole
        WHERE whole.n > 0 AND whole.n = (SELECT count(*) FROM jobs)
        RETURNING size
        """
    }
}

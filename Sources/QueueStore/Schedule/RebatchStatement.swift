import Domain
import Postgres

/// Cuts a group's due retries into one batch at the head of its pair, under the pair's lock. Where each job expires at its own
/// instant, the batch does so at the last.
struct RebatchStatement {
    var group: RetryGroup
    var shard: Shard
    /// Jobs of the batch.
    var limit: Int32

    var query: PostgresQuery {
        """
        WITH due AS MATERIALIZED (
            SELECT retry.number
            FROM pushfleet.retry
            JOIN pushfleet.run ON run.id = retry.run_id AND run.status = 1
            WHERE retry.shard = \(shard.rawValue)
                AND retry.run_id = \(group.run)
                AND retry.route_id = \(group.route)
                AND retry.expires_at > now()
                AND (\(group.expiresAt)::timestamptz IS NULL OR retry.expires_at = \(group.expiresAt))
                AND retry.content_version = \(group.contentVersion)
                AND retry.due_at <= now()
            -- By the pair's index: those that are not due yet, which may be many, are not read.
            ORDER BY retry.due_at
            LIMIT (
                -- Of a throttled run no more than a second's worth.
                SELECT least(\(limit), throttled.rate) FROM pushfleet.run throttled WHERE throttled.id = \(group.run)
            )
            FOR UPDATE OF retry SKIP LOCKED
        ),
        taken AS (
            DELETE FROM pushfleet.retry
            USING due
            WHERE retry.shard = \(shard.rawValue) AND retry.run_id = \(group.run) AND retry.number = due.number
            RETURNING retry.number, retry.subscriber_id, retry.attempts, retry.doubtful, retry.first_attempt_at,
                retry.expires_at
        ),
        placed AS MATERIALIZED (
            SELECT taken.number, taken.subscriber_id, taken.attempts, taken.doubtful, taken.first_attempt_at,
                taken.expires_at, (row_number() OVER (ORDER BY taken.number) - 1)::smallint AS ordinal
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
                shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal, attempts, first_attempt_at,
                expires_at
            )
            SELECT \(shard.rawValue), target.bucket_id, target.batch_id, \(group.run), placed.number,
                placed.subscriber_id, placed.ordinal, placed.attempts, placed.first_attempt_at,
                CASE WHEN \(group.expiresAt)::timestamptz IS NULL THEN placed.expires_at END
            FROM placed
            CROSS JOIN target
            RETURNING ordinal
        )
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id,
            content_version, variant, bucket_id, size, state, origin, marked, doubtful
        )
        SELECT \(shard.rawValue), target.batch_id, \(group.run), \(group.route), target.tag, now(),
            coalesce(\(group.expiresAt), whole.expires_at), whole.first_id, whole.last_id, \(group.contentVersion),
            (SELECT said.variant FROM pushfleet.content_version said WHERE said.id = \(group.contentVersion)),
            target.bucket_id, whole.n, 0, 1,
            repeat('0', whole.n)::varbit, whole.doubtful
        FROM target
        CROSS JOIN (
            SELECT count(*)::int AS n, min(placed.subscriber_id) AS first_id, max(placed.subscriber_id) AS last_id,
                max(placed.expires_at) AS expires_at,
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

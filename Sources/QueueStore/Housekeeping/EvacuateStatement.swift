import Domain
import Postgres

/// Moves an open batch of an old partition into the current one, under its pair's lock. The old one is done, all of it
/// moved; what was in doubt stays so.
struct EvacuateStatement {
    var shard: Shard
    var bucket: Int32
    var batch: Int64

    var query: PostgresQuery {
        """
        WITH current AS MATERIALIZED (
            SELECT max(bucket.id) AS id FROM pushfleet.bucket WHERE bucket.sealed_at IS NULL
        ),
        old AS MATERIALIZED (
            SELECT b.id, b.run_id, b.route_id, b.tag, b.due_at, b.expires_at, b.first_subscriber_id,
                b.last_subscriber_id, b.content_version, b.variant, b.lapses, b.state, b.marked, b.doubtful
            FROM pushfleet.batch b
            WHERE b.shard = \(shard.rawValue)
                AND b.id = \(batch)
                AND b.bucket_id = \(bucket)
                AND b.state IN (0, 5)
                AND b.bucket_id < (SELECT current.id FROM current)
            FOR UPDATE SKIP LOCKED
        ),
        placed AS MATERIALIZED (
            SELECT job.run_id, job.number, job.subscriber_id, job.attempts, job.content_version, job.expires_at,
                job.first_attempt_at,
                (row_number() OVER (ORDER BY job.ordinal) - 1)::smallint AS place,
                coalesce(get_bit(old.doubtful, job.ordinal), 0) AS doubt
            FROM old
            JOIN pushfleet.job
                ON job.shard = \(shard.rawValue) AND job.bucket_id = \(bucket) AND job.batch_id = old.id
            WHERE get_bit(old.marked, job.ordinal) = 0
        ),
        pairs AS MATERIALIZED (
            SELECT pair.low_tag
            FROM pushfleet.run_route pair
            JOIN old ON old.run_id = pair.run_id AND old.route_id = pair.route_id
            WHERE pair.shard = \(shard.rawValue)
            FOR NO KEY UPDATE OF pair
        ),
        target AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id, current.id AS bucket_id,
                pairs.low_tag
            FROM pairs
            CROSS JOIN current
        ),
        jobs AS (
            INSERT INTO pushfleet.job (
                shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal, attempts, content_version,
                expires_at, first_attempt_at
            )
            SELECT \(shard.rawValue), target.bucket_id, target.batch_id, placed.run_id, placed.number,
                placed.subscriber_id, placed.place, placed.attempts, placed.content_version, placed.expires_at,
                placed.first_attempt_at
            FROM placed
            CROSS JOIN target
            RETURNING ordinal
        ),
        moved AS (
            UPDATE pushfleet.batch b
            SET state = 2,
                moved = b.moved + (SELECT count(*) FROM jobs)::int,
                marked = repeat('1', b.size)::varbit
            FROM old
            WHERE b.shard = \(shard.rawValue) AND b.id = old.id
            RETURNING b.id
        )
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id,
            content_version, variant, bucket_id, size, lapses, state, origin, marked, doubtful
        )
        SELECT \(shard.rawValue), target.batch_id, old.run_id, old.route_id, greatest(old.tag, target.low_tag),
            old.due_at, old.expires_at, old.first_subscriber_id, old.last_subscriber_id, old.content_version,
            old.variant, target.bucket_id, whole.n, old.lapses, old.state, 1, repeat('0', whole.n)::varbit, whole.doubtful
        FROM old
        CROSS JOIN target
        CROSS JOIN (
            SELECT count(*)::int AS n, string_agg(placed.doubt::text, '' ORDER BY placed.place)::varbit AS doubtful
            FROM placed
        ) whole
        RETURNING size
        """
    }
}

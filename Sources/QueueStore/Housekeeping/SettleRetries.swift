import Domain
import Postgres

extension PostgresQuery {
    /// Ends the retries of cancelled runs and those that expired, as batches born done. Cancelled wins over expired. Both
    /// are found by an index of their own: of the others, which an outage may make many, none is read.
    static func settleRetries(of shard: Shard, limit: Int32) -> PostgresQuery {
        """
        WITH over AS MATERIALIZED (
            (
                SELECT of_run.run_id, of_run.number
                FROM pushfleet.run
                CROSS JOIN LATERAL (
                    SELECT retry.run_id, retry.number
                    FROM pushfleet.retry
                    WHERE retry.shard = \(shard.rawValue) AND retry.run_id = run.id
                    LIMIT \(limit)
                ) of_run
                WHERE run.status = 3 AND run.closed_at IS NULL
                LIMIT \(limit)
            )
            UNION
            (
                SELECT retry.run_id, retry.number
                FROM pushfleet.retry
                WHERE retry.shard = \(shard.rawValue) AND retry.expires_at <= now()
                ORDER BY retry.expires_at
                LIMIT \(limit)
            )
        ),
        gone AS MATERIALIZED (
            SELECT held.run_id, held.number
            FROM over
            CROSS JOIN LATERAL (
                SELECT retry.run_id, retry.number
                FROM pushfleet.retry
                WHERE retry.shard = \(shard.rawValue) AND retry.run_id = over.run_id AND retry.number = over.number
                LIMIT 1
                FOR UPDATE SKIP LOCKED
            ) held
            LIMIT \(limit)
        ),
        taken AS (
            DELETE FROM pushfleet.retry
            USING gone, pushfleet.run
            WHERE retry.shard = \(shard.rawValue)
                AND retry.run_id = gone.run_id
                AND retry.number = gone.number
                AND run.id = retry.run_id
            RETURNING retry.run_id, retry.route_id, retry.number, retry.subscriber_id, retry.expires_at,
                retry.attempts, retry.content_version,
                CASE WHEN retry.doubtful THEN 7 WHEN run.status = 3 THEN 5 ELSE 4 END AS outcome
        ),
        known AS MATERIALIZED (
            -- A variant of 0 is none, so that groups join by equality.
            SELECT taken.run_id, taken.route_id, taken.number, taken.subscriber_id, taken.expires_at, taken.attempts,
                taken.content_version, taken.outcome,
                coalesce((
                    SELECT said.variant FROM pushfleet.content_version said WHERE said.id = taken.content_version
                ), 0) AS variant
            FROM taken
        ),
        placed AS MATERIALIZED (
            SELECT known.run_id, known.route_id, known.variant, known.number, known.subscriber_id, known.expires_at,
                known.attempts, known.content_version, known.outcome,
                (row_number() OVER (
                    PARTITION BY known.run_id, known.route_id, known.variant ORDER BY known.number
                ) - 1)::smallint AS ordinal
            FROM known
        ),
        cut AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id, whole.run_id, whole.route_id,
                whole.variant, whole.expires_at, whole.n, whole.first_id, whole.last_id, whole.expired,
                whole.cancelled, whole.in_doubt
            FROM (
                SELECT placed.run_id, placed.route_id, placed.variant, max(placed.expires_at) AS expires_at,
                    count(*)::int AS n, min(placed.subscriber_id) AS first_id, max(placed.subscriber_id) AS last_id,
                    count(*) FILTER (WHERE placed.outcome = 4)::int AS expired,
                    count(*) FILTER (WHERE placed.outcome = 5)::int AS cancelled,
                    count(*) FILTER (WHERE placed.outcome = 7)::int AS in_doubt
                FROM placed
                GROUP BY placed.run_id, placed.route_id, placed.variant
            ) whole
        ),
        closed AS (
            INSERT INTO pushfleet.delivery (
                shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version, variant
            )
            SELECT \(shard.rawValue), placed.run_id, placed.number, placed.subscriber_id, cut.batch_id, placed.ordinal,
                placed.outcome, placed.attempts, placed.content_version, nullif(placed.variant, 0)
            FROM placed
            JOIN cut USING (run_id, route_id, variant)
        )
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, size,
            expired, cancelled, in_doubt, state, origin, variant, marked
        )
        SELECT \(shard.rawValue), cut.batch_id, cut.run_id, cut.route_id, 0, now(), cut.expires_at, cut.first_id,
            cut.last_id, cut.n, cut.expired, cut.cancelled, cut.in_doubt, 2, 1, nullif(cut.variant, 0),
            repeat('1', cut.n)::varbit
        FROM cut
        RETURNING id
        """
    }

    static func cancelledNotifications(of shard: Shard) -> PostgresQuery {
        """
        SELECT notification.id
        FROM pushfleet.notification
        JOIN pushfleet.run ON run.id = notification.run_id
        WHERE notification.shard = \(shard.rawValue) AND run.status = 3
        LIMIT 1000
        """
    }
}

import Domain
import Postgres

extension PostgresQuery {
    /// Retries of cancelled runs and those whose life is over, as batches born done. Cancelled wins over expired.
    static func settleRetries(shard: Shard, limit: Int32) -> PostgresQuery {
        """
        WITH gone AS MATERIALIZED (
            SELECT q.run_id, q.number
            FROM pushfleet.retry q
            JOIN pushfleet.run ON run.id = q.run_id
            WHERE q.shard = \(shard.rawValue) AND (run.status = 3 OR q.expires_at <= now())
            LIMIT \(limit)
            FOR UPDATE OF q SKIP LOCKED
        ),
        taken AS (
            DELETE FROM pushfleet.retry q
            USING gone, pushfleet.run
            WHERE q.shard = \(shard.rawValue) AND q.run_id = gone.run_id AND q.number = gone.number
                AND run.id = q.run_id
            RETURNING q.run_id, q.number, q.subscriber_id, q.route_id, q.expires_at, q.content_version, q.attempts,
                (CASE WHEN q.doubtful THEN 7 WHEN run.status = 3 THEN 5 ELSE 4 END)::smallint AS outcome
        ),
        placed AS MATERIALIZED (
            SELECT taken.*,
                (row_number() OVER (PARTITION BY run_id, route_id ORDER BY number) - 1)::smallint AS ordinal
            FROM taken
        ),
        cut AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id, grouped.*
            FROM (
                SELECT run_id, route_id, max(expires_at) AS expires_at, count(*)::int AS n,
                    min(subscriber_id) AS first_id, max(subscriber_id) AS last_id,
                    (count(*) FILTER (WHERE outcome = 4))::int AS expired,
                    (count(*) FILTER (WHERE outcome = 5))::int AS cancelled,
                    (count(*) FILTER (WHERE outcome = 7))::int AS in_doubt
                FROM placed
                GROUP BY run_id, route_id
            ) grouped
        ),
        closed AS (
            INSERT INTO pushfleet.delivery (
                shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version
            )
            SELECT \(shard.rawValue), p.run_id, p.number, p.subscriber_id, cut.batch_id, p.ordinal, p.outcome,
                p.attempts, p.content_version
            FROM placed p
            JOIN cut USING (run_id, route_id)
        )
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, size,
            expired, cancelled, in_doubt, state, origin, marked
        )
        SELECT \(shard.rawValue), batch_id, run_id, route_id, 0, now(), expires_at, first_id, last_id, n, expired,
            cancelled, in_doubt, 2, 1, repeat('1', n)::varbit
        FROM cut
        RETURNING id
        """
    }
}

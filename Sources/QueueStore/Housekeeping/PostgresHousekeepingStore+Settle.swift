import Domain
import Postgres

extension PostgresHousekeepingStore {
    /// Level-triggered: what comes back later is settled by a later call.
    package func settle(shard: Shard) async throws -> Int {
        var settled = 0
        for (outcome, list) in [
            (Outcome.cancelled, PostgresQuery.listCancelled(shard: shard)), (.expired, .listExpired(shard: shard)),
        ] {
            for row in try await client.query(list) {
                settled += try await client.query(
                    .settle(shard: shard, bucket: row.int32(0), batches: row.int64Array(1), as: outcome),
                    deadline: .seconds(30)
                ).count
            }
        }
        return settled + (try await client.query(.settleRetries(shard: shard, limit: 5_000), deadline: .seconds(30))).count
    }
}

extension PostgresQuery {
    /// Open batches of cancelled runs. Leased ones are left alone: they come back first, with what is known.
    static func listCancelled(shard: Shard) -> PostgresQuery {
        """
        SELECT open.bucket_id, array_agg(open.id)
        FROM (
            SELECT b.bucket_id, b.id
            FROM pushfleet.run
            JOIN pushfleet.batch b ON b.shard = \(shard.rawValue) AND b.run_id = run.id AND b.state IN (0, 5)
            WHERE run.status = 3 AND run.closed_at IS NULL
            LIMIT 200
        ) open
        GROUP BY open.bucket_id
        """
    }

    static func listExpired(shard: Shard) -> PostgresQuery {
        """
        SELECT open.bucket_id, array_agg(open.id)
        FROM (
            SELECT b.bucket_id, b.id
            FROM pushfleet.batch b
            WHERE b.shard = \(shard.rawValue) AND b.state IN (0, 5) AND b.expires_at <= now()
            ORDER BY b.expires_at
            LIMIT 200
        ) open
        GROUP BY open.bucket_id
        """
    }

    /// Ends what is left of these batches; the statement itself checks that it may. A job that may have left under an
    /// earlier holder ends as in_doubt.
    static func settle(shard: Shard, bucket: Int32, batches: [Int64], as outcome: Outcome) -> PostgresQuery {
        """
        WITH open AS MATERIALIZED (
            SELECT b.id, b.run_id, b.marked, b.doubtful, b.content_version
            FROM pushfleet.batch b
            JOIN pushfleet.run ON run.id = b.run_id
            WHERE b.shard = \(shard.rawValue) AND b.id = ANY (\(batches)) AND b.bucket_id = \(bucket)
                AND b.state IN (0, 5)
                AND CASE \(outcome.rawValue) WHEN 5 THEN run.status = 3 WHEN 4 THEN b.expires_at <= now() END
            ORDER BY b.id
            FOR UPDATE OF b SKIP LOCKED
        ),
        closed AS (
            INSERT INTO pushfleet.delivery (
                shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version
            )
            SELECT \(shard.rawValue), open.run_id, j.number, j.subscriber_id, open.id, j.ordinal,
                CASE
                    WHEN open.doubtful IS NOT NULL AND get_bit(open.doubtful, j.ordinal) = 1 THEN 7
                    ELSE \(outcome.rawValue)
                END,
                j.attempts, coalesce(j.content_version, open.content_version)
            FROM open
            JOIN pushfleet.job j
                ON j.shard = \(shard.rawValue) AND j.bucket_id = \(bucket) AND j.batch_id = open.id
            WHERE get_bit(open.marked, j.ordinal) = 0
            RETURNING batch_id, outcome
        ),
        tally AS MATERIALIZED (
            SELECT batch_id,
                (count(*) FILTER (WHERE outcome = 4))::int AS expired,
                (count(*) FILTER (WHERE outcome = 5))::int AS cancelled,
                (count(*) FILTER (WHERE outcome = 7))::int AS in_doubt
            FROM closed
            GROUP BY batch_id
        )
        UPDATE pushfleet.batch b
        SET state = 2,
            marked = repeat('1', b.size)::varbit,
            expired = b.expired + tally.expired,
            cancelled = b.cancelled + tally.cancelled,
            in_doubt = b.in_doubt + tally.in_doubt
        FROM tally
        WHERE b.shard = \(shard.rawValue) AND b.id = tally.batch_id
        RETURNING b.id
        """
    }
}

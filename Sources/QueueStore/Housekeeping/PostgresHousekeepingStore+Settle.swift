import Domain
import Postgres

extension PostgresHousekeepingStore {
    /// Called again and again until nothing is left: what comes back later, from a worker or as a retry, is found by a
    /// later call. Leased batches are left alone, since they come back first with what is known.
    package func settle(shard: Shard) async throws -> Int {
        var settled = 0
        for row in try await client.query(.cancelledBatches(of: shard), deadline: .seconds(5)) {
            settled += try await settle(row, of: shard, as: .cancelled)
        }
        for row in try await client.query(.expiredBatches(of: shard), deadline: .seconds(5)) {
            settled += try await settle(row, of: shard, as: .expired)
        }
        settled += try await client.query(.settleRetries(of: shard, limit: 5000), deadline: .seconds(10)).count
        for row in try await client.query(.cancelledNotifications(of: shard), deadline: .seconds(5)) {
            let query = PostgresQuery.takeBack(row.int64(0), shard: shard, as: .cancelled)
            settled += Int(try await client.query(query, deadline: .seconds(5))[0].int32(0))
        }
        for row in try await client.query(.expiredNotifications(of: shard), deadline: .seconds(5)) {
            let query = PostgresQuery.takeBack(row.int64(0), shard: shard, as: .expired)
            settled += Int(try await client.query(query, deadline: .seconds(5))[0].int32(0))
        }
        return settled
    }

    private func settle(_ row: PostgresRow, of shard: Shard, as outcome: Outcome) async throws -> Int {
        let query = PostgresQuery.settle(row.int64Array(1), bucket: row.int32(0), shard: shard, as: outcome)
        return try await client.query(query, deadline: .seconds(30)).count
    }
}

extension PostgresQuery {
    static func cancelledBatches(of shard: Shard) -> PostgresQuery {
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

    /// Waiting notifications whose time is over while nobody collects: among those that have been due longest.
    static func expiredNotifications(of shard: Shard) -> PostgresQuery {
        """
        SELECT oldest.id
        FROM (
            SELECT n.id, n.expires_at
            FROM pushfleet.notification n
            WHERE n.shard = \(shard.rawValue)
            ORDER BY n.due_at, n.id
            LIMIT 1000
        ) oldest
        WHERE oldest.expires_at <= now()
        """
    }

    /// Ends a notification that nobody collected yet: a batch of one, born done. 0: too late.
    static func takeBack(_ id: Int64, shard: Shard, as outcome: Outcome) -> PostgresQuery {
        "SELECT pushfleet.take_back(\(shard.rawValue), \(id), \(outcome.rawValue))"
    }

    static func expiredBatches(of shard: Shard) -> PostgresQuery {
        """
        SELECT open.bucket_id, array_agg(open.id)
        FROM (
            SELECT b.bucket_id, b.id
            FROM pushfleet.batch b
            -- By the one index that has these expressions: see migration 0093.
            WHERE b.shard + 0 = \(shard.rawValue) AND b.state - 0 IN (0, 5) AND b.expires_at <= now()
            ORDER BY b.expires_at
            LIMIT 200
        ) open
        GROUP BY open.bucket_id
        """
    }

    /// Ends every unmarked job of these batches, if the run is cancelled or the batch expired; what may have left is
    /// in_doubt.
    static func settle(_ batches: [Int64], bucket: Int32, shard: Shard, as outcome: Outcome) -> PostgresQuery {
        """
        WITH open AS MATERIALIZED (
            SELECT b.id, b.run_id, b.marked, b.doubtful, b.content_version, b.variant
            FROM pushfleet.batch b
            JOIN pushfleet.run ON run.id = b.run_id
            WHERE b.shard = \(shard.rawValue)
                AND b.id = ANY (\(batches))
                AND b.bucket_id = \(bucket)
                AND b.state IN (0, 5)
                AND CASE \(outcome.rawValue) WHEN 5 THEN run.status = 3 WHEN 4 THEN b.expires_at <= now() END
            ORDER BY b.id
            FOR UPDATE OF b SKIP LOCKED
        ),
        closed AS (
            INSERT INTO pushfleet.delivery (
                shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version, variant
            )
            SELECT \(shard.rawValue), open.run_id, job.number, job.subscriber_id, open.id, job.ordinal,
                CASE
                    WHEN open.doubtful IS NOT NULL AND get_bit(open.doubtful, job.ordinal) = 1 THEN 7
                    ELSE \(outcome.rawValue)
                END,
                job.attempts, coalesce(job.content_version, open.content_version), open.variant
            FROM open
            JOIN pushfleet.job
                ON job.shard = \(shard.rawValue) AND job.bucket_id = \(bucket) AND job.batch_id = open.id
            WHERE get_bit(open.marked, job.ordinal) = 0
            RETURNING batch_id, outcome
        ),
        tally AS MATERIALIZED (
            SELECT closed.batch_id,
                count(*) FILTER (WHERE closed.outcome = 4)::int AS expired,
                count(*) FILTER (WHERE closed.outcome = 5)::int AS cancelled,
                count(*) FILTER (WHERE closed.outcome = 7)::int AS in_doubt
            FROM closed
            GROUP BY closed.batch_id
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

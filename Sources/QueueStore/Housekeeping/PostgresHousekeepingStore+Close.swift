import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func closeRuns() async throws -> Int {
        let open = try await client.query(
            """
            SELECT run.id
            FROM pushfleet.run
            WHERE run.closed_at IS NULL AND run.status IN (1, 3) AND run.due_at <= now()
                AND (NOT run.standing OR run.created_at < now() - interval '2 days')
                AND (
                    run.status = 3
                    OR NOT EXISTS (
                        SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id AND NOT p.expanded
                    )
                )
            ORDER BY run.id
            LIMIT 100
            """)
        var closed = 0
        for row in open {
            closed += try await client.query(.closeRun(row.int64(0)), deadline: .seconds(30)).count
        }
        return closed
    }

    package func dropBuckets(shards: [Shard]) async throws -> Int {
        for shard in shards {
            let pinned = try await client.query(
                """
                SELECT b.bucket_id, b.id
                FROM pushfleet.bucket
                JOIN pushfleet.batch b ON b.bucket_id = bucket.id AND b.state IN (0, 5)
                WHERE b.shard = \(shard.rawValue) AND bucket.sealed_at < now() - \(PostgresInterval(evacuateAfter))
                LIMIT 1000
                """)
            for row in pinned {
                _ = try await client.query(.evacuate(shard: shard, bucket: row.int32(0), batch: row.int64(1)))
            }
        }
        let sealed = try await client.query("SELECT id FROM pushfleet.bucket WHERE sealed_at IS NOT NULL")
        var dropped = 0
        for row in sealed {
            do {
                let answer = try await client.query("SELECT pushfleet.drop_bucket(\(row.int32(0)))")
                if answer[0].bool(0) { dropped += 1 }
            } catch where error.code == .lockNotAvailable {
                continue  // a page in flight holds the partition; the next round finds it free
            }
        }
        return dropped
    }
}

extension PostgresQuery {
    /// One snapshot sees every job in exactly one place, so nothing open in it means nothing open.
    static func closeRun(_ run: Int64) -> PostgresQuery {
        """
        WITH idle AS MATERIALIZED (
            SELECT r.id
            FROM pushfleet.run r
            WHERE r.id = \(run) AND r.closed_at IS NULL
                AND (
                    r.status = 3
                    OR NOT EXISTS (SELECT FROM pushfleet.run_progress p WHERE p.run_id = r.id AND NOT p.expanded)
                )
                AND NOT EXISTS (
                    SELECT FROM pushfleet.accounting a
                    WHERE a.run_id = r.id AND a.pending + a.leased + a.retrying > 0
                )
            FOR UPDATE
        ),
        total AS (
            INSERT INTO pushfleet.run_total (
                run_id, targeted, delivered, failed, unregistered, expired, cancelled, skipped, in_doubt, repeat_bound
            )
            SELECT a.run_id, a.targeted, a.delivered, a.failed, a.unregistered, a.expired, a.cancelled, a.skipped,
                a.in_doubt, a.repeat_bound
            FROM pushfleet.accounting a
            JOIN idle ON idle.id = a.run_id
            RETURNING run_id
        )
        UPDATE pushfleet.run r
        SET status = CASE r.status WHEN 3 THEN 3 ELSE 4 END, closed_at = now()
        FROM total
        WHERE r.id = total.run_id
        RETURNING r.id
        """
    }

    /// Moves what is open of an old bucket's batch into the current bucket; the old one is done, all moved.
    static func evacuate(shard: Shard, bucket: Int32, batch: Int64) -> PostgresQuery {
        """
        WITH old AS MATERIALIZED (
            SELECT b.*
            FROM pushfleet.batch b
            WHERE b.shard = \(shard.rawValue) AND b.id = \(batch) AND b.bucket_id = \(bucket) AND b.state IN (0, 5)
                AND b.bucket_id < (SELECT max(id) FROM pushfleet.bucket WHERE sealed_at IS NULL)
            FOR UPDATE SKIP LOCKED
        ),
        placed AS MATERIALIZED (
            SELECT j.*, (row_number() OVER (ORDER BY j.ordinal) - 1)::smallint AS place,
                coalesce(get_bit(old.doubtful, j.ordinal), 0) AS doubt
            FROM old
            JOIN pushfleet.job j ON j.shard = \(shard.rawValue) AND j.bucket_id = \(bucket) AND j.batch_id = old.id
            WHERE get_bit(old.marked, j.ordinal) = 0
        ),
        pair AS MATERIALIZED (
            SELECT rr.low_tag
            FROM pushfleet.run_route rr
            JOIN old ON old.run_id = rr.run_id AND old.route_id = rr.route_id
            WHERE rr.shard = \(shard.rawValue)
            FOR NO KEY UPDATE OF rr
        ),
        target AS MATERIALIZED (
            SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id,
                (SELECT max(id) FROM pushfleet.bucket WHERE sealed_at IS NULL) AS bucket_id, pair.low_tag
            FROM pair
        ),
        jobs AS (
            INSERT INTO pushfleet.job (
                shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal, attempts, content_version,
                expires_at
            )
            SELECT \(shard.rawValue), target.bucket_id, target.batch_id, p.run_id, p.number, p.subscriber_id, p.place,
                p.attempts, p.content_version, p.expires_at
            FROM placed p CROSS JOIN target
            RETURNING ordinal
        ),
        emptied AS (
            UPDATE pushfleet.batch b
            SET state = 2, moved = b.moved + (SELECT count(*) FROM jobs)::int, marked = repeat('1', b.size)::varbit
            FROM old
            WHERE b.shard = \(shard.rawValue) AND b.id = old.id
        )
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id,
            content_version, bucket_id, size, lapses, state, origin, marked, doubtful
        )
        SELECT \(shard.rawValue), target.batch_id, old.run_id, old.route_id, greatest(old.tag, target.low_tag),
            old.due_at, old.expires_at, old.first_subscriber_id, old.last_subscriber_id, old.content_version,
            target.bucket_id, open.n, old.lapses, old.state, 1, repeat('0', open.n)::varbit, open.doubtful
        FROM old CROSS JOIN target CROSS JOIN (
            SELECT count(*)::int AS n, string_agg(placed.doubt::text, '' ORDER BY placed.place)::varbit AS doubtful
            FROM placed
        ) open
        RETURNING id
        """
    }
}

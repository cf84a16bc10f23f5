import Domain
import Logging
import Postgres

extension PostgresHousekeepingStore {
    /// A partition goes once no open batch needs it and its rows were counted against its batches.
    package func dropBuckets(shards: [Shard]) async throws -> Int {
        var failure: (any Error)?
        for shard in shards {
            let pinned = try await client.query(.pinned(in: shard, for: evacuateAfter), deadline: .seconds(10))
            for row in pinned {
                let statement = EvacuateStatement(shard: shard, bucket: row.int32(0), batch: row.int64(1))
                do {
                    _ = try await client.query(statement.query, deadline: .seconds(30))
                } catch {
                    // A batch that cannot be moved keeps its own partition, and holds up no other.
                    failure = failure ?? error
                }
            }
        }
        var dropped = 0
        for row in try await client.query(.unneededBuckets, deadline: .seconds(10)) {
            let bucket = row.int32(0)
            let miscounted = try await client.query(.miscounted(in: bucket), deadline: .seconds(600))[0].int64(0)
            guard miscounted == 0 else {
                logger.error(
                    "a job partition does not match its batches and is kept",
                    metadata: ["bucket": "\(bucket)", "batches": "\(miscounted)"])
                continue
            }
            if try await drop(bucket) { dropped += 1 }
        }
        if let failure { throw failure }
        return dropped
    }

    /// False as well while somebody reads the partition: the next round comes back.
    private func drop(_ bucket: Int32) async throws -> Bool {
        do {
            return try await client.query(.dropBucket(bucket), deadline: .seconds(10))[0].bool(0)
        } catch {
            guard error.code == .lockNotAvailable else { throw error }
            return false
        }
    }
}

extension PostgresQuery {
    static func pinned(in shard: Shard, for span: Duration) -> PostgresQuery {
        """
        SELECT b.bucket_id, b.id
        FROM pushfleet.bucket
        JOIN pushfleet.batch b ON b.bucket_id = bucket.id AND b.state IN (0, 5)
        WHERE b.shard = \(shard.rawValue) AND bucket.sealed_at < now() - \(PostgresInterval(span))
        LIMIT 1000
        """
    }

    static let unneededBuckets: PostgresQuery = """
        SELECT bucket.id
        FROM pushfleet.bucket
        WHERE bucket.sealed_at < now() - interval '10 minutes'
            AND NOT EXISTS (
                SELECT FROM pushfleet.batch b WHERE b.bucket_id = bucket.id AND b.state IN (0, 1, 5)
            )
        ORDER BY bucket.id
        """

    /// Batches of the partition whose rows are not as many as their size.
    static func miscounted(in bucket: Int32) -> PostgresQuery {
        """
        SELECT count(*)
        FROM (
            SELECT b.shard, b.id, b.size
            FROM pushfleet.batch b
            WHERE b.bucket_id = \(bucket)
        ) b
        FULL JOIN (
            SELECT job.shard, job.batch_id, count(*) AS n
            FROM pushfleet.job
            WHERE job.bucket_id = \(bucket)
            GROUP BY job.shard, job.batch_id
        ) rows ON rows.shard = b.shard AND rows.batch_id = b.id
        WHERE b.size IS DISTINCT FROM rows.n
        """
    }

    static func dropBucket(_ bucket: Int32) -> PostgresQuery {
        "SELECT pushfleet.drop_bucket(\(bucket))"
    }
}

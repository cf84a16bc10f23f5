import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func sight(as janitor: WorkerID, longestGap: Duration) async throws {
        _ = try await client.query(.sight(as: janitor, longestGap: longestGap), deadline: .seconds(5))
    }

    package func rescue(shard: Shard, span: Duration) async throws -> Int {
        var freed = 0
        for row in try await client.query(.lapsedBatches(of: shard, span: span), deadline: .seconds(5)) {
            let ids = row.int64Array(2)
            let statement = FreeStatement(
                shard: shard, bucket: row.int32(0), holder: WorkerID(row.uuid(1)), ids: ids,
                epochs: row.int32Array(3), begun: ids.map { _ in nil }, lapsedFor: span, notBefore: nil)
            checkpoints.reach(.beforeRescue)
            freed += try await client.query(statement.query, deadline: .seconds(10)).count
            checkpoints.reach(.afterRescue)
        }
        return freed
    }

    package func forgetWorkers(lapsedFor span: Duration) async throws {
        _ = try await client.query(.forgetWorkers(lapsedFor: span), deadline: .seconds(10))
    }
}

extension PostgresQuery {
    /// Two sightings count only if this janitor looked without a gap in between: after an outage it starts anew, as the
    /// lapsed may live and only have been cut off like itself.
    static func sight(as janitor: WorkerID, longestGap: Duration) -> PostgresQuery {
        """
        UPDATE pushfleet.worker
        SET sighted_first_at = CASE
                WHEN worker.sighted_by = \(janitor.uuid)
                    AND worker.sighted_last_at >= now() - \(PostgresInterval(longestGap))
                THEN worker.sighted_first_at
                ELSE now()
            END,
            sighted_last_at = now(),
            sighted_by = \(janitor.uuid)
        WHERE worker.lease_until < now()
            AND (
                worker.sighted_by IS NULL
                OR worker.sighted_by = \(janitor.uuid)
                OR worker.sighted_last_at < now() - \(PostgresInterval(longestGap))
            )
        """
    }

    /// Batches whose holder was seen lapsed for long enough, or is forgotten; by partition and holder.
    ///
    /// From holder to holder, the newest claim first: while a snapshot is held, the entries of what a worker held before
    /// lie below, and of a living one they are not read.
    static func lapsedBatches(of shard: Shard, span: Duration) -> PostgresQuery {
        """
        WITH RECURSIVE holders AS (
            (
                SELECT b.holder
                FROM pushfleet.batch b
                WHERE b.shard + 0 = \(shard.rawValue) AND b.state + 0 = 1
                ORDER BY b.holder DESC, b.claim_no DESC
                LIMIT 1
            )
            UNION ALL
            SELECT below.holder
            FROM holders
            CROSS JOIN LATERAL (
                SELECT b.holder
                FROM pushfleet.batch b
                WHERE b.shard + 0 = \(shard.rawValue) AND b.state + 0 = 1 AND b.holder < holders.holder
                ORDER BY b.holder DESC, b.claim_no DESC
                LIMIT 1
            ) below
        ),
        gone AS MATERIALIZED (
            SELECT holders.holder
            FROM holders
            LEFT JOIN pushfleet.worker ON worker.id = holders.holder
            WHERE worker.id IS NULL
                OR (
                    worker.lease_until < now()
                    AND worker.sighted_last_at - worker.sighted_first_at >= \(PostgresInterval(span))
                )
        )
        SELECT b.bucket_id, b.holder, array_agg(b.id ORDER BY b.id), array_agg(b.epoch ORDER BY b.id)
        FROM gone
        CROSS JOIN LATERAL (
            SELECT held.bucket_id, held.holder, held.id, held.epoch
            FROM pushfleet.batch held
            WHERE held.shard + 0 = \(shard.rawValue) AND held.holder = gone.holder AND held.state + 0 = 1
            OFFSET 0
        ) b
        GROUP BY b.bucket_id, b.holder
        """
    }

    /// Only who holds nothing, and was seen lapsed twice: after an outage the living have not renewed yet.
    static func forgetWorkers(lapsedFor span: Duration) -> PostgresQuery {
        """
        DELETE FROM pushfleet.worker
        WHERE worker.lease_until < now() - \(PostgresInterval(span))
            AND worker.sighted_last_at - worker.sighted_first_at >= interval '5 s'
            AND NOT EXISTS (SELECT FROM pushfleet.batch b WHERE b.holder = worker.id AND b.state = 1)
        """
    }
}

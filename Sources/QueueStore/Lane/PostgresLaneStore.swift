import Domain
import Logging
import Postgres

/// The transactional lane in PostgreSQL, on a connection that nothing else holds up.
package struct PostgresLaneStore: LaneStore {
    let client: PostgresClient
    let checkpoints: Checkpoints

    package init(client: PostgresClient, checkpoints: Checkpoints = .none) {
        self.client = client
        self.checkpoints = checkpoints
    }

    package func takeDuty(_ worker: WorkerID, for span: Duration) async throws -> Bool {
        try await client.query(.takeDuty(worker, for: span), deadline: .seconds(5)).count > 0
    }

    package func hasDue(in shard: Shard) async throws -> Bool {
        try await client.query(.hasDueNotification(in: shard), deadline: .seconds(5))[0].bool(0)
    }

    package func contentVersions(of batch: ClaimedBatch) async throws -> [ContentVersion.ID] {
        try await client.query(.contentVersions(of: batch), deadline: .seconds(5)).map {
            ContentVersion.ID($0.int64(0))
        }
    }

    package func collect(
        shard: Shard, worker: WorkerID, claimNumber: Int32, limit: Int32
    ) async throws -> [CollectedBatch] {
        checkpoints.reach(.beforeClaim)
        let rows = try await client.query(
            .collect(shard: shard, worker: worker, claimNumber: claimNumber, limit: limit), deadline: .seconds(5))
        checkpoints.reach(.afterClaim)
        return try rows.map { row in
            CollectedBatch(
                batch: try ClaimedBatch(row, shard: shard),
                contentVersions: row.int64Array(21).map { ContentVersion.ID($0) })
        }
    }
}

extension PostgresQuery {
    /// A slot that is this worker's already, else one that is free.
    static func takeDuty(_ worker: WorkerID, for span: Duration) -> PostgresQuery {
        """
        UPDATE pushfleet.duty
        SET holder = \(worker.uuid),
            held_until = now() + \(PostgresInterval(span))
        FROM (
            SELECT d.name, d.slot
            FROM pushfleet.duty d
            WHERE d.name = 'collect' AND (d.holder = \(worker.uuid) OR d.held_until < now())
            ORDER BY d.holder = \(worker.uuid) DESC NULLS LAST, d.slot
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) free
        WHERE duty.name = free.name AND duty.slot = free.slot
        RETURNING duty.slot
        """
    }

    static func hasDueNotification(in shard: Shard) -> PostgresQuery {
        """
        SELECT EXISTS (
            SELECT FROM pushfleet.notification n WHERE n.shard = \(shard.rawValue) AND n.due_at <= clock_timestamp()
        )
        """
    }

    static func contentVersions(of batch: ClaimedBatch) -> PostgresQuery {
        """
        SELECT DISTINCT coalesce(job.content_version, \(batch.contentVersion.rawValue))
        FROM pushfleet.job
        WHERE job.shard = \(batch.shard.rawValue)
            AND job.bucket_id = \(batch.bucket)
            AND job.batch_id = \(batch.id.rawValue)
        """
    }
}

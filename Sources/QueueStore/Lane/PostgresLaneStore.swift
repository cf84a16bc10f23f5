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

    package func takeDuty(_ worker: WorkerID, for span: Duration) async throws -> Int16? {
        try await client.query(.takeDuty(worker, for: span), deadline: .seconds(5)).first?.int16(0)
    }

    package func hasDue(in shard: Shard, without sated: Set<Run.ID>) async throws -> Bool {
        try await client.query(.hasDueNotification(in: shard, without: sated), deadline: .seconds(5))[0].bool(0)
    }

    package func contentVersions(of batch: ClaimedBatch) async throws -> [ContentVersion.ID] {
        try await client.query(.contentVersions(of: batch), deadline: .seconds(5)).map {
            ContentVersion.ID($0.int64(0))
        }
    }

    package func collect(
        shard: Shard, worker: WorkerID, claimNumber: Int32, limit: Int32, without sated: Set<Run.ID>
    ) async throws -> [CollectedBatch] {
        checkpoints.reach(.beforeClaim)
        let rows = try await client.query(
            .collect(shard: shard, worker: worker, claimNumber: claimNumber, limit: limit, without: sated),
            deadline: .seconds(5))
        checkpoints.reach(.afterClaim)
        return try rows.map { row in
            CollectedBatch(
                batch: try ClaimedBatch(row, shard: shard),
                contentVersions: row.int64Array(21).map { ContentVersion.ID($0) })
        }
    }
}

extension PostgresQuery {
    /// The first slot that is this worker's already or free: who has the second moves up when the first is given up.
    static func takeDuty(_ worker: WorkerID, for span: Duration) -> PostgresQuery {
        """
        UPDATE pushfleet.duty
        SET holder = \(worker.uuid),
            held_until = now() + \(PostgresInterval(span))
        FROM (
            SELECT d.name, d.slot
            FROM pushfleet.duty d
            WHERE d.name = 'collect' AND (d.holder = \(worker.uuid) OR d.held_until < now())
            ORDER BY d.slot
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) free
        WHERE duty.name = free.name AND duty.slot = free.slot
        RETURNING duty.slot
        """
    }

    /// As many are looked at as a collect takes: should they all have to wait, the others are looked for run by run.
    static func hasDueNotification(in shard: Shard, without sated: Set<Run.ID>) -> PostgresQuery {
        """
        SELECT EXISTS (
            SELECT FROM pushfleet.due_notifications(\(shard.rawValue), 100, \(sated.map(\.rawValue)))
        )
        """
    }

    /// Turns due notifications into batches that are leased already, one for each run and route, in one statement. It is a
    /// function of the database, which plans it once in a session, also where nothing is prepared: this is the way of
    /// those that somebody waits for.
    static func collect(
        shard: Shard, worker: WorkerID, claimNumber: Int32, limit: Int32, without sated: Set<Run.ID>
    ) -> PostgresQuery {
        """
        SELECT c.id, c.run_id, c.route_id, c.bucket_id, c.epoch, c.size, c.announced, c.marked, c.lapses,
            c.content_version, c.expires_at, c.in_doubt, c.announce_window, c.is_collected, c.lane, c.max_attempts,
            c.horizon_ms, c.run_rate, c.route_rate, c.app_rate, c.is_limited, c.content_versions
        FROM pushfleet.collect(
            \(shard.rawValue), \(worker.uuid), \(claimNumber), \(limit), \(sated.map(\.rawValue))
        ) c
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

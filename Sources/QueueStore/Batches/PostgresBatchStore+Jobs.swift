import Domain
import Postgres

extension PostgresBatchStore {
    package func jobs(of batch: ClaimedBatch, attributes names: [String]) async throws -> [PushJob] {
        let rows = try await claims.query(.readJobs(of: batch, attributes: names), deadline: .seconds(10))
        checkpoints.reach(.afterRead)
        return try rows.map { try PushJob($0) }
    }
}

extension PostgresQuery {
    /// The unmarked jobs of a batch and their subscribers as they are now.
    ///
    /// The bucket is a parameter, so that one partition is planned, however many there are. A subscriber that was erased
    /// leaves its job in the answer. OFFSET keeps each subscriber a look-up by key: in a partition that was not analysed
    /// yet the planner expects far too many jobs and would read all subscribers instead.
    static func readJobs(of batch: ClaimedBatch, attributes names: [String]) -> PostgresQuery {
        """
        SELECT job.ordinal, job.number, job.subscriber_id, job.attempts, job.content_version, job.expires_at,
            s.transport, s.service, s.state, s.address, s.address_version, s.language, s.environment, s.p256dh, s.auth,
            s.scalars, s.vapid_credential, job.first_attempt_at
        FROM pushfleet.job
        LEFT JOIN LATERAL (
            SELECT subscriber.transport, subscriber.service, subscriber.state, subscriber.address,
                subscriber.address_version, subscriber.language, subscriber.environment, subscriber.p256dh,
                subscriber.auth, subscriber.vapid_credential,
                CASE WHEN cardinality(\(names)) > 0 THEN ARRAY(
                    SELECT CASE
                        WHEN jsonb_typeof(subscriber.attributes -> name.name) IN ('string', 'number', 'boolean')
                        THEN subscriber.attributes ->> name.name
                    END
                    FROM unnest(\(names)) WITH ORDINALITY AS name (name, position)
                    ORDER BY name.position
                ) END AS scalars
            FROM pushfleet.subscriber
            WHERE subscriber.shard = \(batch.shard.rawValue) AND subscriber.id = job.subscriber_id
            OFFSET 0
        ) s ON true
        WHERE job.shard = \(batch.shard.rawValue)
            AND job.bucket_id = \(batch.bucket)
            AND job.batch_id = \(batch.id.rawValue)
            AND get_bit(\(batch.marked.bits), job.ordinal) = 0
        ORDER BY job.ordinal
        """
    }
}

extension PushJob {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            ordinal: row.int16(0), number: row.int64(1), subscriber: Subscriber.ID(row.int64(2)),
            attempts: row.int16(3), contentVersion: row.int64OrNil(4).map { ContentVersion.ID($0) },
            expiresAt: row.timestampMicrosecondsOrNil(5).map { Instant(microseconds: $0) },
            recipient: try row.isNull(6) ? nil : Recipient(row))
        firstAttemptAt = row.timestampMicrosecondsOrNil(17).map { Instant(microseconds: $0) }
    }
}

extension Recipient {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            transport: try stored(row.int16(6), "subscriber.transport"), service: row.int16(7),
            state: try stored(row.int16(8), "subscriber.state"),
            address: Address(
                text: row.string(9), environment: try stored(row.int16(12), "subscriber.environment"),
                p256dh: row.stringOrNil(13), auth: row.stringOrNil(14),
                vapidKey: row.int64OrNil(16).map { Credential.ID($0) }),
            addressVersion: row.int32(10), language: row.stringOrNil(11), values: row.textArrayOrNil(15) ?? [])
    }
}

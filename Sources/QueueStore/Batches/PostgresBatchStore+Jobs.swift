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
    /// leaves its job in the answer.
    static func readJobs(of batch: ClaimedBatch, attributes names: [String]) -> PostgresQuery {
        if let subscribers = batch.subscribers, Self.isDense(subscribers, size: batch.size) {
            return readDenseJobs(of: batch, among: subscribers, attributes: names)
        }
        return readSparseJobs(of: batch, attributes: names)
    }

    /// Whether reading everybody between the first and the last subscriber costs less than looking up each: a look-up
    /// touches four pages or five, and the next in the order of ids mostly lies on the same.
    private static func isDense(_ subscribers: ClosedRange<Int64>, size: Int) -> Bool {
        size <= 1000 && subscribers.upperBound - subscribers.lowerBound < Int64(3 * size)
    }

    /// OFFSET keeps each subscriber a look-up by key: in a partition that was not analysed yet the planner expects far too
    /// many jobs and would read all subscribers instead.
    private static func readSparseJobs(of batch: ClaimedBatch, attributes names: [String]) -> PostgresQuery {
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

    /// Everybody from the first to the last in one walk: a quarter of the time.
    ///
    /// Whatever the planner believes of either side, there is one way: ORDER BY and LIMIT, which cuts off nobody, keep the
    /// walk along the key and its cost below that where it is compiled first, and a full join, which `coalesce` keeps from
    /// being made an outer one, is never a loop in a loop. The bounds are selected, so that a plan for all values is not
    /// taken for dearer than one for these, and is kept.
    private static func readDenseJobs(
        of batch: ClaimedBatch, among subscribers: ClosedRange<Int64>, attributes names: [String]
    ) -> PostgresQuery {
        """
        SELECT job.ordinal, job.number, job.subscriber_id, job.attempts, job.content_version, job.expires_at,
            s.transport, s.service, s.state, s.address, s.address_version, s.language, s.environment, s.p256dh, s.auth,
            CASE WHEN cardinality(\(names)) > 0 AND s.id IS NOT NULL THEN ARRAY(
                SELECT CASE
                    WHEN jsonb_typeof(s.attributes -> name.name) IN ('string', 'number', 'boolean')
                    THEN s.attributes ->> name.name
                END
                FROM unnest(\(names)) WITH ORDINALITY AS name (name, position)
                ORDER BY name.position
            ) END AS scalars,
            s.vapid_credential, job.first_attempt_at
        FROM (
            SELECT j.ordinal, j.number, j.subscriber_id, j.attempts, j.content_version, j.expires_at, j.first_attempt_at
            FROM pushfleet.job j
            WHERE j.shard = \(batch.shard.rawValue)
                AND j.bucket_id = \(batch.bucket)
                AND j.batch_id = \(batch.id.rawValue)
                AND get_bit(\(batch.marked.bits), j.ordinal) = 0
        ) job
        FULL JOIN (
            SELECT subscriber.id, subscriber.transport, subscriber.service, subscriber.state, subscriber.address,
                subscriber.address_version, subscriber.language, subscriber.environment, subscriber.p256dh,
                subscriber.auth, subscriber.attributes, subscriber.vapid_credential
            FROM pushfleet.subscriber
            WHERE subscriber.shard = \(batch.shard.rawValue)
                AND subscriber.id BETWEEN (SELECT \(subscribers.lowerBound)) AND (SELECT \(subscribers.upperBound))
            ORDER BY subscriber.id
            LIMIT 3000
        ) s ON s.id = job.subscriber_id
        WHERE coalesce(job.ordinal, -1) >= 0
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

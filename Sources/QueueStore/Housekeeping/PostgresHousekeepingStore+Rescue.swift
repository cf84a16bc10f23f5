import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func rescue(shard: Shard, span: Duration) async throws -> Int {
        var rescued = 0
        for row in try await client.query(.listLapsed(shard: shard, span: span)) {
            let batches = row.int64Array(2)
            let freed = try await client.query(
                .free(
                    shard: shard, bucket: row.int32(0), holder: WorkerID(row.uuid(1)), batches: batches,
                    epochs: row.int32Array(3), begun: batches.map { _ in nil }, sightingSpan: span, notBefore: nil))
            rescued += freed.count
        }
        return rescued
    }
}

extension PostgresQuery {
    /// Notes lapsed leases. Two sightings count only if this janitor looked without a gap longer than `longestGap` in
    /// between: after an outage it starts anew.
    static func sight(janitor: WorkerID, longestGap: Duration) -> PostgresQuery {
        let me = PostgresUUID(janitor.description)
        let gap = PostgresInterval(longestGap)
        return """
            UPDATE pushfleet.worker
            SET sighted_first_at = CASE
                    WHEN sighted_by = \(me) AND sighted_last_at >= now() - \(gap) THEN sighted_first_at
                    ELSE now()
                END,
                sighted_last_at = now(),
                sighted_by = \(me)
            WHERE lease_until < now()
                AND (sighted_by IS NULL OR sighted_by = \(me) OR sighted_last_at < now() - \(gap))
            """
    }

    /// The batches of holders that were seen lapsed for `span`, or that the table does not know.
    static func listLapsed(shard: Shard, span: Duration) -> PostgresQuery {
        """
        SELECT b.bucket_id, b.holder, array_agg(b.id ORDER BY b.id), array_agg(b.epoch ORDER BY b.id)
        FROM pushfleet.batch b
        LEFT JOIN pushfleet.worker w ON w.id = b.holder
        WHERE b.shard = \(shard.rawValue) AND b.state = 1
            AND (
                w.id IS NULL
                OR (w.lease_until < now() AND w.sighted_last_at - w.sighted_first_at >= \(PostgresInterval(span)))
            )
        GROUP BY b.bucket_id, b.holder
        """
    }
}

import Domain
import Postgres

/// Batches of one holder and one job partition that somebody else may take.
///
/// Hand-back, soft and hard, and rescue are this one statement.
/// What may have left ends here as in_doubt under assume_sent; under retry its bit stays with it. A third lapse closes
/// the one job that a suspect batch had announced: it may have left, so it too is in_doubt (reason poison), never
/// failed. The pairs are locked and their low marks lowered in the same statement: the watermark rule.
struct FreeStatement {
    var shard: Shard
    var bucket: Int32
    var holder: WorkerID
    var ids: [Int64]
    var epochs: [Int32]
    /// Ordinals below it that are unmarked may have left; nil = those that were announced.
    var begun: [Int32?]
    /// How long the holder must have been seen lapsed; nil = the holder itself calls.
    var lapsedFor: Duration?
    /// From now; nil = ready at once.
    var notBefore: Duration?

    var query: PostgresQuery {
        let span = lapsedFor.map { PostgresInterval($0) }
        let notBefore = notBefore.map { PostgresInterval($0) }
        return """
            WITH lapsed AS MATERIALIZED (
                SELECT worker.id
                FROM pushfleet.worker
                WHERE worker.id = \(holder.uuid)
                    AND \(span) IS NOT NULL
                    AND worker.lease_until < now()
                    AND worker.sighted_last_at - worker.sighted_first_at >= \(span)
                FOR UPDATE
            ),
            locked AS MATERIALIZED (
                SELECT b.id, b.run_id, b.route_id, b.epoch, b.tag, b.size, b.announced, b.marked, b.lapses,
                    b.content_version
                FROM pushfleet.batch b
                WHERE b.shard = \(shard.rawValue)
                    AND b.id = ANY (\(ids))
                    AND b.bucket_id = \(bucket)
                    AND b.holder = \(holder.uuid)
                    AND b.state = 1
                    AND (
                        SELECT \(span) IS NULL
                            OR count(*) > 0
                            OR NOT EXISTS (SELECT FROM pushfleet.worker WHERE worker.id = \(holder.uuid))
                        FROM lapsed
                    )
                ORDER BY b.id
                FOR UPDATE
            ),
            held AS MATERIALIZED (
                SELECT locked.id, locked.run_id, locked.route_id, locked.tag, locked.content_version,
                    ~locked.marked & rpad(
                        repeat('1', least(locked.announced, coalesce(named.begun, locked.announced))), locked.size, '0'
                    )::varbit AS doubt,
                    CASE
                        WHEN run.in_doubt = 1 THEN 6
                        WHEN \(span) IS NOT NULL AND locked.lapses >= 2 THEN 5
                        ELSE 0
                    END AS close_as
                FROM locked
                JOIN unnest(\(ids), \(epochs), \(begun)) AS named (id, epoch, begun)
                    ON named.id = locked.id AND named.epoch = locked.epoch
                JOIN pushfleet.run ON run.id = locked.run_id
            ),
            closed AS (
                INSERT INTO pushfleet.delivery (
                    shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, reason, content_version
                )
                SELECT \(shard.rawValue), held.run_id, job.number, job.subscriber_id, held.id, job.ordinal, 7,
                    job.attempts + 1, held.close_as, coalesce(job.content_version, held.content_version)
                FROM held
                JOIN pushfleet.job
                    ON job.shard = \(shard.rawValue)
                    AND job.bucket_id = \(bucket)
                    AND job.batch_id = held.id
                WHERE held.close_as > 0 AND get_bit(held.doubt, job.ordinal) = 1
                RETURNING batch_id
            ),
            tally AS MATERIALIZED (
                SELECT closed.batch_id, count(*)::int AS n
                FROM closed
                GROUP BY closed.batch_id
            ),
            pairs AS MATERIALIZED (
                SELECT pair.run_id, pair.route_id
                FROM pushfleet.run_route pair
                WHERE pair.shard = \(shard.rawValue)
                    AND (pair.run_id, pair.route_id) IN (SELECT held.run_id, held.route_id FROM held)
                ORDER BY pair.run_id, pair.route_id
                FOR NO KEY UPDATE
            ),
            lowered AS (
                UPDATE pushfleet.run_route pair
                SET low_tag = least(pair.low_tag, lowest.tag)
                FROM (
                    SELECT held.run_id, held.route_id, min(held.tag) AS tag
                    FROM held
                    JOIN pairs USING (run_id, route_id)
                    GROUP BY held.run_id, held.route_id
                ) lowest
                WHERE pair.shard = \(shard.rawValue)
                    AND pair.run_id = lowest.run_id
                    AND pair.route_id = lowest.route_id
            )
            UPDATE pushfleet.batch b
            SET state = CASE
                    WHEN b.settled + coalesce(tally.n, 0) = b.size THEN 2
                    WHEN \(notBefore) > interval '0' THEN 5
                    ELSE 0
                END,
                due_at = greatest(b.due_at, now() + coalesce(\(notBefore), interval '0')),
                holder = NULL,
                announced = 0,
                lapses = least(b.lapses + (\(span) IS NOT NULL)::int, 100),
                in_doubt = b.in_doubt + coalesce(tally.n, 0),
                marked = CASE WHEN held.close_as > 0 THEN b.marked | held.doubt ELSE b.marked END,
                doubtful = CASE
                    WHEN held.close_as > 0 OR bit_count(held.doubt) = 0 THEN b.doubtful
                    ELSE coalesce(b.doubtful | held.doubt, held.doubt)
                END,
                may_repeat = b.may_repeat + CASE WHEN held.close_as > 0 THEN 0 ELSE bit_count(held.doubt)::int END
            FROM held
            LEFT JOIN tally ON tally.batch_id = held.id
            WHERE b.shard = \(shard.rawValue) AND b.id = held.id
            RETURNING b.id, b.state, b.lapses
            """
    }
}

import Domain
import Postgres

extension PostgresBatchStore {
    package func claim(
        shard: Shard, worker: WorkerID, claimNumber: Int32, pairs: [Pair]
    ) async throws -> ClaimedBatch? {
        checkpoints.reach(.beforeClaim)
        let rows = try await claims.query(
            .claim(shard: shard, worker: worker, claimNumber: claimNumber, pairs: pairs), deadline: .seconds(5))
        checkpoints.reach(.afterClaim)
        return try rows.first.map { row in
            var batch = try ClaimedBatch(row, shard: shard)
            batch.subscribers = row.int64(21)...row.int64(22)
            return batch
        }
    }
}

extension PostgresQuery {
    /// The ready batch with the lowest fair tag among the named pairs whose run goes on and whose route is open.
    ///
    /// The first window is announced with it. It counts from the first ordinal without a mark; of a suspect batch, rescued
    /// twice, nothing is announced yet: first its holder must be done with all else. A repeat whose reply was lost takes another batch: the pulse gives the first one back.
    static func claim(shard: Shard, worker: WorkerID, claimNumber: Int32, pairs: [Pair]) -> PostgresQuery {
        """
        WITH head AS MATERIALIZED (
            SELECT pair.run_id, pair.route_id, pair.low_tag, run.announce_window, run.content_version,
                run.variant_versions, run.in_doubt,
                run.lane, run.max_attempts, (extract(epoch FROM run.retry_horizon) * 1000)::bigint AS horizon_ms,
                run.rate AS run_rate, app.rate AS app_rate,
                pushfleet.route_rate(
                    route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, now()
                ) AS route_rate,
                run.exempt & 1 = 0 AND app.cap_most IS NOT NULL
                    OR run.exempt & 2 = 0 AND app.quiet_from IS NOT NULL AS is_limited,
                pair.tag_offset + first.tag AS fair
            FROM unnest(\(pairs.map(\.run.rawValue)), \(pairs.map(\.route.rawValue))) AS named (run_id, route_id)
            JOIN pushfleet.run_route pair
                ON pair.shard = \(shard.rawValue)
                AND pair.run_id = named.run_id
                AND pair.route_id = named.route_id
            JOIN pushfleet.run ON run.id = named.run_id AND run.status = 1
            JOIN pushfleet.app ON app.id = run.app_id AND app.paused_at IS NULL
            JOIN pushfleet.route ON route.id = named.route_id AND route.state = 0
            CROSS JOIN LATERAL (
                SELECT b.tag
                FROM pushfleet.batch b
                -- By the one index that has these expressions: see migration 0093.
                WHERE b.shard + 0 = \(shard.rawValue)
                    AND b.run_id + 0 = pair.run_id
                    AND b.route_id + 0 = pair.route_id
                    AND b.state + 0 = 0
                    AND b.tag >= pair.low_tag
                ORDER BY b.tag
                LIMIT 1
            ) first
            WHERE EXISTS (SELECT FROM pushfleet.worker w WHERE w.id = \(worker.uuid) AND w.lease_until > now())
            ORDER BY fair
        ),
        pick AS MATERIALIZED (
            SELECT free.id, head.announce_window, head.content_version, head.variant_versions, head.in_doubt, head.lane,
                head.max_attempts, head.horizon_ms, head.run_rate, head.route_rate, head.app_rate, head.is_limited
            FROM head
            CROSS JOIN LATERAL (
                SELECT b.id
                FROM pushfleet.batch b
                WHERE b.shard + 0 = \(shard.rawValue)
                    AND b.run_id + 0 = head.run_id
                    AND b.route_id + 0 = head.route_id
                    AND b.state + 0 = 0
                    AND b.tag >= head.low_tag
                ORDER BY b.tag
                LIMIT 1
                FOR UPDATE SKIP LOCKED
            ) free
            LIMIT 1
        )
        UPDATE pushfleet.batch b
        SET state = 1,
            holder = \(worker.uuid),
            epoch = b.epoch + 1,
            claim_no = \(claimNumber),
            content_version = coalesce(b.content_version, pick.variant_versions[b.variant], pick.content_version),
            announced = least(
                b.size,
                position(B'0' IN b.marked) - 1 + CASE WHEN b.lapses >= 2 THEN 0 ELSE pick.announce_window END
            )
        FROM pick
        WHERE b.shard = \(shard.rawValue) AND b.id = pick.id
        RETURNING b.id, b.run_id, b.route_id, b.bucket_id, b.epoch, b.size, b.announced, b.marked, b.lapses,
            b.content_version, b.expires_at, pick.in_doubt, pick.announce_window, b.collected > 0, pick.lane,
            pick.max_attempts, pick.horizon_ms, pick.run_rate, pick.route_rate, pick.app_rate, pick.is_limited,
            b.first_subscriber_id, b.last_subscriber_id
        """
    }
}

extension ClaimedBatch {
    /// The columns that a claim and a collect both return, in this order; what each returns besides comes after them.
    init(_ row: PostgresRow, shard: Shard) throws {
        let marked = row.bits(7)
        let lapses = row.int16(8)
        self.init(
            shard: shard, id: Batch.ID(row.int64(0)), run: Run.ID(row.int64(1)), route: Route.ID(row.int64(2)),
            bucket: row.int32(3), epoch: row.int32(4), size: Int(row.int32(5)), announced: Int(row.int16(6)),
            marked: OrdinalSet(bytes: marked.bytes, count: marked.count), lapses: lapses,
            contentVersion: ContentVersion.ID(row.int64(9)),
            expiresAt: Instant(microseconds: row.timestampMicroseconds(10)),
            policy: try stored(row.int16(11), "run.in_doubt"),
            announceWindow: lapses >= 2 ? 1 : Int(row.int16(12)), isCollected: row.bool(13))
        terms.lane = try stored(row.int16(14), "run.lane")
        terms.maxAttempts = Int(row.int16(15))
        terms.retryHorizon = .milliseconds(row.int64(16))
        terms.runRate = row.int32OrNil(17).map { Int($0) }
        terms.routeRate = row.int32OrNil(18).map { Int($0) }
        terms.appRate = row.int32OrNil(19).map { Int($0) }
        terms.isLimited = row.bool(20)
    }
}

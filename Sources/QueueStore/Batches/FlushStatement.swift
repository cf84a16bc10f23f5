import Domain
import Postgres

/// Records, announces and renews in one statement; without items it is the pulse.
///
/// - Each batch's row is locked before its bits are read, so a repeat, also a simultaneous one, changes nothing.
/// - The tallies are counted from the items that were taken, and the row's own checks refuse a miscount.
/// - A job that may have left ends as delivered or in_doubt, whatever the worker calls it.
/// - Under the worker's name, yet unknown to it, lie batches whose claim's answer was lost: nothing of them was begun
///   and they go back. Only claims up to `answeredClaims` are looked at, as a later one's answer may be under way, and
///   only above `checkedClaims`: else each flush would step over an entry for every batch that this process ever
///   held, for as long as a snapshot is held open.
/// - A row comes back for each named batch still held, closed ones included the first time.
struct FlushStatement {
    let flush: Flush
    let worker: WorkerID
    let lease: Duration

    var query: PostgresQuery {
        let held = FlushedBatches(flush.held)
        let items = FlushedItems(flush.items)
        return """
            WITH renewed AS (
                -- First in the lock order. Written when a fifth of the lease is gone: each time leaves a version behind.
                UPDATE pushfleet.worker
                SET lease_until = now() + \(PostgresInterval(lease)),
                    sighted_by = NULL,
                    sighted_first_at = NULL,
                    sighted_last_at = NULL
                WHERE worker.id = \(worker.uuid)
                    AND (worker.lease_until < now() + \(PostgresInterval(lease * 0.8)) OR worker.sighted_by IS NOT NULL)
                RETURNING 1
            ),
            enlisted AS (
                -- Forgotten while it was cut off for long: it goes on under the same name, without its batches.
                INSERT INTO pushfleet.worker (id, lease_until)
                SELECT \(worker.uuid), now() + \(PostgresInterval(lease))
                WHERE NOT EXISTS (SELECT FROM pushfleet.worker WHERE worker.id = \(worker.uuid))
                ON CONFLICT (id) DO NOTHING
            ),
            mine AS MATERIALIZED (
                SELECT unnest(\(held.ids)) AS id
                UNION
                SELECT b.id
                FROM pushfleet.batch b
                -- By the one index that has these expressions: see migration 0093.
                WHERE b.shard + 0 = \(flush.shard.rawValue)
                    AND b.holder = \(worker.uuid)
                    AND b.state + 0 = 1
                    AND b.claim_no > \(flush.checkedClaims)
                    AND b.claim_no <= \(flush.answeredClaims)
            ),
            locked AS MATERIALIZED (
                -- The latest version of each row, in the order of ids; found by its id, whatever else could be looked up.
                SELECT b.id, b.run_id, b.route_id, b.epoch, b.claim_no, b.tag, b.size, b.announced, b.marked, b.doubtful,
                    b.expires_at, b.content_version, b.variant
                FROM mine
                JOIN pushfleet.batch b ON b.shard = \(flush.shard.rawValue) AND b.id = mine.id
                WHERE b.holder IS NOT DISTINCT FROM \(worker.uuid)
                    AND b.state + 0 = 1
                    AND (SELECT count(*) FROM renewed) >= 0
                ORDER BY b.id
                FOR UPDATE OF b
            ),
            held AS MATERIALIZED (
                -- The fence.
                SELECT locked.id, locked.run_id, locked.route_id, locked.size, locked.announced, locked.marked,
                    locked.doubtful, locked.expires_at, locked.content_version, locked.variant,
                    least(locked.size, named.announce) AS announce,
                    locked.marked # locked.marked AS no_bits,
                    CASE WHEN run.status = 1 AND app.paused_at IS NOT NULL THEN 2::smallint ELSE run.status END
                        AS run_status,
                    run.in_doubt AS policy, run.max_attempts,
                    route.state AS route_state, route.credential_id,
                    num_nonnulls(
                        run.rate, app.rate,
                        pushfleet.route_rate(
                            route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, now())
                    ) > 0 AS is_paced
                FROM locked
                JOIN unnest(\(held.ids), \(held.epochs), \(held.announcements)) AS named (id, epoch, announce)
                    ON named.id = locked.id AND named.epoch = locked.epoch
                JOIN pushfleet.run ON run.id = locked.run_id
                JOIN pushfleet.app ON app.id = run.app_id
                JOIN pushfleet.route ON route.id = locked.route_id
            ),
            item AS (
                -- Only ordinals without a mark. Part of the statement below: a copy of its own costs a tenth of a flush.
                SELECT i.batch_id, i.ordinal, i.number, i.subscriber_id, i.outcome, i.status, i.reason, i.attempts,
                    coalesce(i.left_now, false) AS left_now, coalesce(i.free, false) AS free, i.address_version,
                    i.provider_id, i.language, i.asked_language, i.begun_ms, i.answer_ms, i.evidence,
                    held.run_id, held.no_bits, held.policy, held.max_attempts, held.variant, held.credential_id,
                    coalesce(i.job_content_version, held.content_version) AS content_version,
                    coalesce(i.job_expires_at, held.expires_at) AS expires_at,
                    coalesce(i.new_route, held.route_id) AS route_id,
                    coalesce(i.left_now, false)
                        OR (held.doubtful IS NOT NULL AND get_bit(held.doubtful, i.ordinal) = 1) AS doubtful,
                    -- Of what is tried again.
                    CASE WHEN i.outcome = 0 THEN now() + coalesce(i.wait, 0) * interval '1 ms' END AS due_at,
                    CASE WHEN i.outcome = 0 AND i.attempts > 0 THEN
                        coalesce(i.first_attempt_at, now() - coalesce(i.begun_ms, 0) * interval '1 ms')
                    END AS first_attempt_at
                FROM (
                    -- Side by side as they are unnested: in FROM each array would first be copied to a table of its own.
                    SELECT unnest(\(items.batches)) AS batch_id, unnest(\(items.ordinals)) AS ordinal,
                        unnest(\(items.numbers)) AS number, unnest(\(items.subscribers)) AS subscriber_id,
                        unnest(\(items.outcomes)) AS outcome, unnest(\(items.statuses)) AS status,
                        unnest(\(items.reasons)) AS reason, unnest(\(items.attempts)) AS attempts,
                        unnest(\(items.left)) AS left_now, unnest(\(items.waits)) AS wait,
                        unnest(\(items.frees)) AS free, unnest(\(items.routes)) AS new_route,
                        unnest(\(items.addressVersions)) AS address_version,
                        unnest(\(items.providerIDs)) AS provider_id, unnest(\(items.languages)) AS language,
                        unnest(\(items.asked)) AS asked_language,
                        unnest(\(items.expiries)) AS job_expires_at,
                        unnest(\(items.contentVersions)) AS job_content_version,
                        unnest(\(items.begun)) AS begun_ms, unnest(\(items.latencies)) AS answer_ms,
                        unnest(\(items.evidence)) AS evidence, unnest(\(items.firstAttempts)) AS first_attempt_at
                ) i
                JOIN held ON held.id = i.batch_id
                WHERE get_bit(held.marked, i.ordinal) = 0
            ),
            fresh AS MATERIALIZED (
                -- The outcome that stands. Attempts end those that were charged; a free one ends by its expiry alone.
                SELECT i.batch_id, i.ordinal, i.number, i.subscriber_id, i.status, i.attempts, i.route_id,
                    i.address_version, i.provider_id, i.language, i.asked_language, i.begun_ms, i.answer_ms, i.run_id,
                    i.no_bits,
                    i.content_version, i.variant, i.credential_id, i.expires_at, i.doubtful, i.left_now, i.due_at, i.first_attempt_at,
                    i.outcome AS asked, i.evidence,
                    CASE WHEN i.outcome = 0 AND NOT i.free AND i.attempts >= i.max_attempts THEN 4 ELSE i.reason END
                        AS reason,
                    CASE
                        WHEN i.outcome = 1 THEN 1
                        WHEN i.outcome = 0
                            AND NOT (i.left_now AND i.policy = 1)
                            AND (i.free OR i.attempts < i.max_attempts)
                            AND i.due_at < i.expires_at
                        THEN 0
                        WHEN i.doubtful THEN 7
                        WHEN i.outcome = 0 AND NOT i.free AND i.attempts >= i.max_attempts THEN 2
                        WHEN i.outcome = 0 THEN 4
                        ELSE i.outcome
                    END AS outcome
                FROM item i
            ),
            tally AS MATERIALIZED (
                SELECT f.batch_id,
                    count(*) AS n,
                    bit_or(set_bit(f.no_bits, f.ordinal, 1)) AS bits,
                    count(*) FILTER (WHERE f.outcome = 0) AS moved,
                    count(*) FILTER (WHERE f.outcome = 1) AS delivered,
                    count(*) FILTER (WHERE f.outcome = 2) AS failed,
                    count(*) FILTER (WHERE f.outcome = 3) AS unregistered,
                    count(*) FILTER (WHERE f.outcome = 4) AS expired,
                    count(*) FILTER (WHERE f.outcome = 5) AS cancelled,
                    count(*) FILTER (WHERE f.outcome = 6) AS skipped,
                    count(*) FILTER (WHERE f.outcome = 7) AS in_doubt,
                    count(*) FILTER (WHERE f.outcome = 0 AND f.left_now) AS may_repeat
                FROM fresh f
                GROUP BY f.batch_id
            ),
            written AS (
                -- An empty pulse writes no batch.
                UPDATE pushfleet.batch b
                SET marked = CASE WHEN tally.n IS NULL THEN b.marked ELSE b.marked | tally.bits END,
                    moved = b.moved + coalesce(tally.moved, 0),
                    delivered = b.delivered + coalesce(tally.delivered, 0),
                    failed = b.failed + coalesce(tally.failed, 0),
                    unregistered = b.unregistered + coalesce(tally.unregistered, 0),
                    expired = b.expired + coalesce(tally.expired, 0),
                    cancelled = b.cancelled + coalesce(tally.cancelled, 0),
                    skipped = b.skipped + coalesce(tally.skipped, 0),
                    in_doubt = b.in_doubt + coalesce(tally.in_doubt, 0),
                    may_repeat = b.may_repeat + coalesce(tally.may_repeat, 0),
                    announced = greatest(b.announced, held.announce),
                    state = CASE WHEN b.settled + coalesce(tally.n, 0) = b.size THEN 2 ELSE 1 END
                FROM held
                LEFT JOIN tally ON tally.batch_id = held.id
                WHERE b.shard = \(flush.shard.rawValue)
                    AND b.id = held.id
                    AND (tally.n > 0 OR held.announce > held.announced)
                RETURNING b.id, b.state, b.announced
            ),
            again AS (
                INSERT INTO pushfleet.retry (
                    shard, run_id, number, subscriber_id, route_id, due_at, expires_at, content_version, attempts,
                    doubtful, first_attempt_at
                )
                SELECT \(flush.shard.rawValue), f.run_id, f.number, f.subscriber_id, f.route_id, f.due_at,
                    f.expires_at, f.content_version, f.attempts, f.doubtful, f.first_attempt_at
                FROM fresh f
                WHERE f.outcome = 0
            ),
            tried AS (
                INSERT INTO pushfleet.attempt (
                    shard, run_id, number, subscriber_id, batch_id, attempts, status, reason, doubtful, answer_ms
                )
                SELECT \(flush.shard.rawValue), f.run_id, f.number, f.subscriber_id, f.batch_id, f.attempts, f.status,
                    f.reason, f.left_now, f.answer_ms
                FROM fresh f
                WHERE f.asked = 0
            ),
            answered AS (
                -- A row of this worker's own for each minute: nobody waits for it, and few versions of it pile up.
                INSERT INTO pushfleet.answer_minute AS known (
                    credential_id, at_minute, worker_id, answers, gone, foreign_to_us
                )
                SELECT f.credential_id, date_trunc('minute', now()), \(worker.uuid), count(*),
                    count(*) FILTER (WHERE f.evidence = 1), count(*) FILTER (WHERE f.evidence = 2)
                FROM fresh f
                WHERE f.status IS NOT NULL
                GROUP BY f.credential_id
                ON CONFLICT (credential_id, at_minute, worker_id) DO UPDATE
                SET answers = known.answers + excluded.answers, gone = known.gone + excluded.gone,
                    foreign_to_us = known.foreign_to_us + excluded.foreign_to_us
            ),
            final AS (
                INSERT INTO pushfleet.delivery (
                    shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, status, reason,
                    content_version, address_version, provider_id, language, asked, variant, sent_at, answer_ms
                )
                SELECT \(flush.shard.rawValue), f.run_id, f.number, f.subscriber_id, f.batch_id, f.ordinal, f.outcome,
                    f.attempts, f.status, f.reason, f.content_version, f.address_version, f.provider_id, f.language,
                    f.asked_language, f.variant, now() - f.begun_ms * interval '1 ms', f.answer_ms
                FROM fresh f
                WHERE f.outcome > 0
            ),
            strange AS MATERIALIZED (
                SELECT locked.id, locked.run_id, locked.route_id, locked.tag
                FROM locked
                WHERE locked.claim_no <= \(flush.answeredClaims)
                    AND NOT EXISTS (SELECT FROM held WHERE held.id = locked.id)
            ),
            pairs AS MATERIALIZED (
                SELECT pair.run_id, pair.route_id
                FROM pushfleet.run_route pair
                WHERE pair.shard = \(flush.shard.rawValue)
                    AND (pair.run_id, pair.route_id) IN (SELECT strange.run_id, strange.route_id FROM strange)
                ORDER BY pair.run_id, pair.route_id
                FOR NO KEY UPDATE
            ),
            lowered AS (
                UPDATE pushfleet.run_route pair
                SET low_tag = least(pair.low_tag, lowest.tag)
                FROM (
                    SELECT strange.run_id, strange.route_id, min(strange.tag) AS tag
                    FROM strange
                    JOIN pairs USING (run_id, route_id)
                    GROUP BY strange.run_id, strange.route_id
                ) lowest
                WHERE pair.shard = \(flush.shard.rawValue)
                    AND pair.run_id = lowest.run_id
                    AND pair.route_id = lowest.route_id
            ),
            returned AS (
                UPDATE pushfleet.batch b
                SET state = 0, holder = NULL, announced = 0
                FROM strange
                WHERE b.shard = \(flush.shard.rawValue) AND b.id = strange.id
            )
            SELECT held.id, coalesce(written.state, 1::smallint), coalesce(written.announced, held.announced),
                held.run_status, held.route_state, held.is_paced
            FROM held
            LEFT JOIN written ON written.id = held.id
            """
    }
}

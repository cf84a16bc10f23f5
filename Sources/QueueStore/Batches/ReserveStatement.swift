import Domain
import Postgres

/// Looks, for the jobs of a claimed batch, whether their users may be disturbed now, and reserves it for those who may.
///
/// - Quiet hours are looked at first: who sleeps takes no room of a cap.
/// - A cap is one conditional upsert for the whole batch, in the order of its key, so that two claims lock in one order.
///   A run, or a single notification, takes room once for all of a user's devices; a repeat, a retry and the next holder
///   of a rescued batch find what was reserved, and only move its instant on. So no more than the cap are ever reserved
///   within its window. What did not leave is not given back.
/// - The batch must still be the caller's: the fence.
struct ReserveStatement {
    var batch: ClaimedBatch
    var worker: WorkerID

    var query: PostgresQuery {
        """
        WITH held AS MATERIALIZED (
            SELECT run.id AS run_id, run.app_id, run.standing, run.exempt, run.quiet_policy AS run_policy,
                app.quiet_policy AS app_policy, app.quiet_from, app.quiet_until, app.time_zone AS app_zone, app.cap_most,
                now() - app.cap_window AS since, b.content_version
            FROM pushfleet.batch b
            JOIN pushfleet.run ON run.id = b.run_id
            JOIN pushfleet.app ON app.id = run.app_id
            WHERE b.shard = \(batch.shard.rawValue)
                AND b.id = \(batch.id.rawValue)
                AND b.holder = \(worker.uuid)
                AND b.epoch = \(batch.epoch)
                AND b.state = 1
        ),
        wanted AS MATERIALIZED (
            SELECT job.ordinal, coalesce('u:' || s.user_id, 's:' || s.id) AS user_key, s.time_zone,
                CASE
                    WHEN held.standing THEN -coalesce((
                        SELECT sibling.notification_id
                        FROM pushfleet.notification_sibling sibling
                        WHERE sibling.sibling_id = job.number
                    ), job.number)
                    ELSE held.run_id
                END AS hit,
                CASE
                    WHEN held.standing THEN coalesce(pushfleet.exempt_rules(said.message, said.delivery), 0)
                    ELSE held.exempt
                END AS exempt,
                coalesce(
                    CASE said.delivery ->> 'quietHours' WHEN 'defer' THEN 0 WHEN 'skip' THEN 1 END,
                    held.run_policy, held.app_policy
                ) AS quiet_policy
            FROM held
            CROSS JOIN pushfleet.job
            CROSS JOIN LATERAL (
                -- OFFSET: as readJobs() reads them.
                SELECT subscriber.id, subscriber.user_id, subscriber.time_zone
                FROM pushfleet.subscriber
                WHERE subscriber.shard = \(batch.shard.rawValue)
                    AND subscriber.id = job.subscriber_id
                    AND subscriber.state <= 2
                OFFSET 0
            ) s
            LEFT JOIN pushfleet.content_version said
                ON held.standing AND said.id = coalesce(job.content_version, held.content_version)
            WHERE job.shard = \(batch.shard.rawValue)
                AND job.bucket_id = \(batch.bucket)
                AND job.batch_id = \(batch.id.rawValue)
                AND get_bit(\(batch.marked.bits), job.ordinal) = 0
        ),
        zone AS MATERIALIZED (
            SELECT own.time_zone,
                pushfleet.quiet_end(now(), own.time_zone, held.app_zone, held.quiet_from, held.quiet_until) AS quiet_end
            FROM held
            CROSS JOIN (SELECT DISTINCT wanted.time_zone FROM wanted WHERE wanted.exempt & 2 = 0) own
            WHERE held.quiet_from IS NOT NULL
        ),
        judged AS MATERIALIZED (
            SELECT wanted.ordinal, wanted.user_key, wanted.hit, wanted.quiet_policy, zone.quiet_end,
                held.cap_most IS NOT NULL AND wanted.exempt & 1 = 0 AND zone.quiet_end IS NULL AS is_capped
            FROM held
            CROSS JOIN wanted
            LEFT JOIN zone ON wanted.exempt & 2 = 0 AND zone.time_zone IS NOT DISTINCT FROM wanted.time_zone
        ),
        asked AS MATERIALIZED (
            -- Notifications by their ids, the earliest first.
            SELECT judged.user_key, array_agg(DISTINCT judged.hit ORDER BY judged.hit DESC) AS hits
            FROM judged
            WHERE judged.is_capped
            GROUP BY judged.user_key
        ),
        reserved AS (
            INSERT INTO pushfleet.frequency AS f (app_id, user_key, hits, hit_at)
            SELECT held.app_id, asked.user_key, asked.hits,
                array_fill(now(), ARRAY[least(held.cap_most, cardinality(asked.hits))])
                    || array_fill(timestamptz '-infinity', ARRAY[greatest(0, cardinality(asked.hits) - held.cap_most)])
            FROM held
            CROSS JOIN asked
            ORDER BY asked.user_key
            ON CONFLICT (app_id, user_key) DO UPDATE
            SET (hits, hit_at) = (
                SELECT array_agg(next.hit), array_agg(next.at)
                FROM (
                    SELECT old.hit, CASE WHEN old.hit = ANY (excluded.hits) THEN now() ELSE old.at END AS at
                    FROM unnest(f.hits, f.hit_at) AS old (hit, at)
                    WHERE old.at > (SELECT held.since FROM held)
                    UNION ALL
                    SELECT new.hit, now()
                    FROM (
                        SELECT asked.hit, row_number() OVER (ORDER BY asked.place) AS place
                        FROM unnest(excluded.hits) WITH ORDINALITY AS asked (hit, place)
                        WHERE asked.hit <> ALL (ARRAY(
                            SELECT known.hit
                            FROM unnest(f.hits, f.hit_at) AS known (hit, at)
                            WHERE known.at > (SELECT held.since FROM held)
                        ))
                    ) new
                    WHERE new.place <= (SELECT held.cap_most FROM held) - (
                        SELECT count(*) FROM unnest(f.hit_at) AS taken (at) WHERE taken.at > (SELECT held.since FROM held)
                    )
                ) next
            )
            WHERE (
                SELECT count(*) < (SELECT held.cap_most FROM held) OR coalesce(bool_or(old.hit = ANY (excluded.hits)), false)
                FROM unnest(f.hits, f.hit_at) AS old (hit, at)
                WHERE old.at > (SELECT held.since FROM held)
            )
            RETURNING f.user_key, f.hits, f.hit_at
        )
        SELECT judged.ordinal, CASE WHEN judged.is_capped THEN 43 ELSE 44 END::smallint,
            CASE
                WHEN judged.quiet_end IS NOT NULL AND judged.quiet_policy = 0
                THEN ceil(extract(epoch FROM judged.quiet_end - now()) * 1000)::bigint
            END
        FROM judged
        LEFT JOIN reserved ON reserved.user_key = judged.user_key
        WHERE judged.quiet_end IS NOT NULL
            OR judged.is_capped AND NOT EXISTS (
                SELECT
                FROM unnest(reserved.hits, reserved.hit_at) AS own (hit, at)
                WHERE own.hit = judged.hit AND own.at = now()
            )
        ORDER BY judged.ordinal
        """
    }
}

extension PostgresBatchStore {
    package func reserve(_ batch: ClaimedBatch, worker: WorkerID) async throws -> [Int16: Withheld] {
        let rows = try await claims.query(ReserveStatement(batch: batch, worker: worker).query, deadline: .seconds(10))
        var withheld: [Int16: Withheld] = [:]
        for row in rows {
            withheld[row.int16(0)] = Withheld(
                reason: try stored(row.int16(1), "delivery.reason"),
                wait: row.int64OrNil(2).map { .milliseconds($0) })
        }
        return withheld
    }
}

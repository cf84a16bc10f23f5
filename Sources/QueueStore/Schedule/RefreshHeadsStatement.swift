import Domain
import Postgres

/// Brings the pairs' heads up to date, for whoever comes first in a second; others find the clock locked or fresh.
///
/// A pair that had nothing to claim starts at the present. Virtual time never goes back, a head below it is lifted to
/// it, and it stays before a pair that was skipped as locked, whose head in the table is older.
///
/// A throttled run takes less than its share, and what it leaves it does not get back: it moves along with the others,
/// so that it neither holds virtual time up nor takes everything once its throttle is gone.
struct RefreshHeadsStatement {
    var shard: Shard
    var lane: Lane

    var query: PostgresQuery {
        """
        WITH clock AS MATERIALIZED (
            SELECT c.vtime
            FROM pushfleet.lane_clock c
            WHERE c.shard = \(shard.rawValue)
                AND c.lane = \(lane.rawValue)
                AND c.refreshed_at < now() - interval '800 ms'
            FOR UPDATE SKIP LOCKED
        ),
        live AS MATERIALIZED (
            SELECT pair.run_id, pair.route_id, pair.tag_offset, pair.head AS old_head, clock.vtime, first.tag,
                coalesce(run.rate, app.rate) IS NOT NULL AS is_throttled
            FROM clock
            CROSS JOIN pushfleet.run_route pair
            LEFT JOIN pushfleet.run
                ON run.id = pair.run_id
                AND run.status = 1
                AND run.app_id NOT IN (SELECT paused.id FROM pushfleet.app paused WHERE paused.paused_at IS NOT NULL)
            LEFT JOIN pushfleet.app ON app.id = run.app_id
            LEFT JOIN pushfleet.route ON route.id = pair.route_id AND route.state = 0
            LEFT JOIN LATERAL (
                SELECT b.tag
                FROM pushfleet.batch b
                -- By the one index that has these expressions: see migration 0093.
                WHERE b.shard + 0 = \(shard.rawValue)
                    AND b.run_id + 0 = pair.run_id
                    AND b.route_id + 0 = pair.route_id
                    AND b.state + 0 = 0
                    AND b.tag >= pair.low_tag
                    AND run.id IS NOT NULL
                    AND route.id IS NOT NULL
                ORDER BY b.tag
                LIMIT 1
            ) first ON true
            WHERE pair.shard = \(shard.rawValue)
                AND pair.lane = \(lane.rawValue)
                AND (
                    pair.head IS NOT NULL
                    OR pair.run_id IN (SELECT going.id FROM pushfleet.run going WHERE going.status = 1)
                )
        ),
        moved AS MATERIALIZED (
            SELECT live.run_id, live.route_id, live.old_head, live.tag_offset, live.tag, live.is_throttled,
                CASE
                    WHEN live.tag IS NOT NULL AND live.old_head IS NULL
                    THEN greatest(live.tag_offset, live.vtime - live.tag)
                    ELSE live.tag_offset
                END AS new_offset
            FROM live
        ),
        present AS MATERIALIZED (
            -- Where the lane is now: at the first of those that nothing but the others holds back.
            SELECT greatest(
                clock.vtime,
                coalesce(
                    min(moved.new_offset + moved.tag) FILTER (WHERE NOT moved.is_throttled),
                    min(moved.new_offset + moved.tag)
                )) AS vtime
            FROM clock
            LEFT JOIN moved ON moved.tag IS NOT NULL
            GROUP BY clock.vtime
        ),
        next AS MATERIALIZED (
            SELECT moved.run_id, moved.route_id, moved.old_head, moved.tag_offset,
                CASE
                    WHEN moved.tag IS NOT NULL AND moved.is_throttled
                    THEN greatest(moved.new_offset, present.vtime - moved.tag)
                    ELSE moved.new_offset
                END AS new_offset,
                CASE WHEN moved.tag IS NOT NULL THEN greatest(present.vtime, moved.new_offset + moved.tag) END
                    AS new_head
            FROM moved
            CROSS JOIN present
        ),
        pairs AS MATERIALIZED (
            SELECT pair.run_id, pair.route_id
            FROM pushfleet.run_route pair
            JOIN next USING (run_id, route_id)
            WHERE pair.shard = \(shard.rawValue)
                AND (next.new_head IS DISTINCT FROM next.old_head OR next.new_offset <> next.tag_offset)
            ORDER BY pair.run_id, pair.route_id
            FOR NO KEY UPDATE OF pair SKIP LOCKED
        ),
        put AS (
            UPDATE pushfleet.run_route pair
            SET head = next.new_head, tag_offset = next.new_offset
            FROM next
            JOIN pairs USING (run_id, route_id)
            WHERE pair.shard = \(shard.rawValue)
                AND pair.run_id = next.run_id
                AND pair.route_id = next.route_id
        )
        UPDATE pushfleet.lane_clock c
        SET refreshed_at = now(),
            vtime = CASE
                WHEN NOT EXISTS (
                    SELECT FROM next
                    WHERE next.new_head IS DISTINCT FROM next.old_head
                        AND NOT EXISTS (
                            SELECT FROM pairs
                            WHERE pairs.run_id = next.run_id AND pairs.route_id = next.route_id
                        )
                )
                THEN greatest(c.vtime, coalesce((SELECT min(next.new_head) FROM next), c.vtime))
                ELSE c.vtime
            END
        FROM clock
        WHERE c.shard = \(shard.rawValue) AND c.lane = \(lane.rawValue)
        """
    }
}

import Domain
import Postgres

/// Expands one page of a run in one shard: cursor, targeted, batches, jobs and skips commit together.
///
/// - The cursor's row serialises the pages of a run and shard. Who finds it locked has nothing to do.
/// - Subscribers are gathered into arrays, one for each way out and due instant, so that 50,000 rows are walked once to be
///   read and once to be written, and are neither sorted nor joined.
/// - A batch's size is counted from the job rows that were written, targeted from the page's selection: two countings.
/// - Who would be disturbed in quiet hours is due at their end, so that a night's audience waits in batches of its own.
/// - A pair that has nothing to claim becomes active with the page, at its lane's present.
/// - A page reads so many subscribers, however few of them belong to the audience, and moves the cursor past them all.
/// - The audience that was compiled is compared with the run's, so that an edit in between is not missed.
struct ExpandStatement {
    var shard: Shard
    var run: Run.ID
    /// Subscribers that the page reads.
    var pageSize: Int32
    /// As the run stores it.
    var audience: PostgresJSON
    /// The same, compiled, about a subscriber `s`.
    var predicate: PostgresFragment
    /// Only the newest device of each user, as the run says.
    var onePerUser: Bool

    /// Written out only where it is asked for: the planner takes it for dear and would have every page compiled.
    private var isOlder: PostgresFragment {
        onePerUser ? .hasNewerDevice(predicate: predicate, asOf: "this.audience_as_of") : "false"
    }

    var query: PostgresQuery {
        """
        WITH progress AS MATERIALIZED (
            SELECT p.last_subscriber_id
            FROM pushfleet.run_progress p
            WHERE p.shard = \(shard.rawValue) AND p.run_id = \(run.rawValue) AND NOT p.expanded
            FOR UPDATE SKIP LOCKED
        ),
        this AS MATERIALIZED (
            SELECT run.app_id, run.status, run.lane, run.weight,
                -- Of a throttled run no more than a second's worth.
                least(run.batch_size, run.rate, app.rate) AS batch_size, run.due_at, run.local_at, run.ttl,
                run.expand_at, run.past_local, run.audience_as_of, run.variant_bounds, run.variant_versions,
                coalesce(run.campaign_id, run.id) AS test_key,
                -- Who is walked: the app's subscribers, or the one row that stands for a topic or condition.
                coalesce((
                    SELECT -campaign.target_id FROM pushfleet.campaign WHERE campaign.id = run.campaign_id
                ), run.app_id) AS audience_id,
                coalesce((
                    SELECT content_version.message -> 'silent' = 'true'
                    FROM pushfleet.content_version
                    WHERE content_version.id = run.content_version
                ), false) AS is_silent,
                CASE WHEN run.exempt & 2 = 0 THEN app.quiet_from END AS quiet_from, app.quiet_until,
                coalesce(run.quiet_policy, app.quiet_policy) AS quiet_policy, app.time_zone AS app_zone,
                app.shards, CASE run.missing_zone WHEN 0 THEN app.time_zone END AS fallback_zone,
                (SELECT max(bucket.id) FROM pushfleet.bucket WHERE bucket.sealed_at IS NULL) AS bucket_id,
                coalesce((
                    SELECT clock.vtime
                    FROM pushfleet.lane_clock clock
                    WHERE clock.shard = \(shard.rawValue) AND clock.lane = run.lane
                ), 0) AS vtime
            FROM pushfleet.run
            JOIN pushfleet.app ON app.id = run.app_id
            WHERE run.id = \(run.rawValue) AND run.status IN (1, 2) AND run.audience = \(audience)
                AND run.one_per_user = \(onePerUser)
        ),
        page AS MATERIALIZED (
            -- Grouped by plain columns, for which the planner knows how many groups there are.
            SELECT read.transport, read.service, read.is_out, read.is_older, read.time_zone, read.variant, read.matched,
                array_agg(read.id) FILTER (WHERE read.matched) AS ids, count(*)::int AS n, max(read.id) AS last_id
            FROM (
                SELECT s.id, s.transport, s.service, s.state > 2 AS is_out,
                    CASE WHEN this.local_at IS NOT NULL OR this.quiet_from IS NOT NULL THEN s.time_zone END AS time_zone,
                    CASE WHEN this.variant_bounds IS NOT NULL THEN
                        width_bucket(pushfleet.test_place(this.test_key, s.user_id, s.id), this.variant_bounds)
                    END AS variant,
                    s.registered_at <= this.audience_as_of AND \(predicate) AS matched,
                    \(isOlder) AS is_older
                FROM progress
                CROSS JOIN this
                CROSS JOIN LATERAL (
                    SELECT subscriber.id, subscriber.transport, subscriber.service, subscriber.state,
                        subscriber.time_zone, subscriber.language, subscriber.registered_at, subscriber.seen_at,
                        subscriber.user_id, subscriber.external_id, subscriber.tags, subscriber.attributes
                    FROM pushfleet.subscriber
                    WHERE subscriber.shard = \(shard.rawValue)
                        AND subscriber.app_id = this.audience_id
                        AND subscriber.id > progress.last_subscriber_id
                    ORDER BY subscriber.id
                    LIMIT \(pageSize)
                ) s
            ) read
            GROUP BY read.transport, read.service, read.is_out, read.is_older, read.time_zone, read.variant,
                read.matched
        ),
        zone AS MATERIALIZED (
            -- When each zone is due, and the end of the quiet hours that this falls into.
            SELECT own.time_zone, own.due_at,
                CASE WHEN this.quiet_from IS NOT NULL THEN
                    pushfleet.quiet_end(
                        greatest(own.due_at, now()), own.time_zone, this.app_zone, this.quiet_from, this.quiet_until)
                END AS quiet_end
            FROM this
            CROSS JOIN LATERAL (
                SELECT known.time_zone,
                    CASE
                        WHEN this.local_at IS NULL THEN this.due_at
                        ELSE pushfleet.wave_at(
                            this.local_at, known.time_zone, this.fallback_zone, this.past_local, this.expand_at)
                    END AS due_at
                FROM (SELECT DISTINCT page.time_zone FROM page WHERE page.matched) known
                OFFSET 0
            ) own
        ),
        way AS (
            -- Each group's route, due instant, or why it is skipped: 1 not active, 7 a silent push, which takes a browser's
            -- permission away, 2 no route, 41 no time zone, 42 hour past, 44 quiet hours, 45 not the user's newest, 40 held
            -- out. Last, so that those held out would have been sent to.
            SELECT coalesce(route.id, 0) AS route_id,
                CASE
                    WHEN page.is_out THEN 1
                    WHEN this.is_silent AND page.transport = 3 THEN 7
                    WHEN route.id IS NULL THEN 2
                    WHEN zone.due_at IS NULL THEN 41
                    WHEN zone.due_at = '-infinity' THEN 42
                    WHEN zone.quiet_end IS NOT NULL AND this.quiet_policy = 1 THEN 44
                    WHEN page.is_older THEN 45
                    WHEN page.variant = 0 THEN 40
                    ELSE 0
                END AS skip,
                CASE
                    WHEN NOT coalesce(isfinite(zone.due_at), false) THEN this.due_at
                    WHEN this.quiet_policy = 0 THEN coalesce(zone.quiet_end, zone.due_at)
                    ELSE zone.due_at
                END AS due_at,
                CASE WHEN this.variant_versions IS NOT NULL THEN nullif(page.variant, 0) END AS variant,
                page.ids, page.n
            FROM page
            CROSS JOIN this
            JOIN zone ON coalesce(zone.time_zone, '') = coalesce(page.time_zone, '')
                AND (zone.time_zone IS NULL) = (page.time_zone IS NULL)
            LEFT JOIN pushfleet.route
                ON route.app_id = this.app_id
                AND route.transport = page.transport
                AND route.service = page.service
                AND route.state <> 2
            WHERE page.matched
        ),
        wave AS MATERIALIZED (
            -- Many zones, one instant. A variant of 0 is none, so that groups join by equality.
            SELECT way.route_id, way.skip, way.due_at, coalesce(way.variant, 0) AS variant,
                pushfleet.joined(way.ids) AS ids, sum(way.n)::int AS n
            FROM way
            GROUP BY way.route_id, way.skip, way.due_at, coalesce(way.variant, 0)
        ),
        cut AS MATERIALIZED (
            -- One row for each batch, their ids in the order in which their jobs are written. The array of zeros only
            -- counts: of it the planner expects ten rows, of generate_series a thousand.
            SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id, part.route_id, part.skip,
                part.due_at, part.variant, part.slice, part.n
            FROM (
                SELECT wave.route_id, wave.skip, wave.due_at, wave.variant, zeros.position - 1 AS slice,
                    least(this.batch_size, wave.n - (zeros.position::int - 1) * this.batch_size) AS n
                FROM this
                CROSS JOIN wave
                CROSS JOIN LATERAL unnest(array_fill(0, ARRAY[(wave.n - 1) / this.batch_size + 1]))
                    WITH ORDINALITY AS zeros (zero, position)
                ORDER BY wave.route_id, wave.skip, wave.due_at, zeros.position, wave.variant
            ) part
        ),
        filled AS (
            SELECT wave.skip, wave.variant, wave.ids, ids_of.batches
            FROM wave
            JOIN (
                SELECT cut.route_id, cut.skip, cut.due_at, cut.variant,
                    array_agg(cut.batch_id ORDER BY cut.slice) AS batches
                FROM cut
                GROUP BY cut.route_id, cut.skip, cut.due_at, cut.variant
            ) ids_of USING (route_id, skip, due_at, variant)
        ),
        pair AS (
            -- Locks the pairs, in order. The page's tags follow last_tag.
            INSERT INTO pushfleet.run_route AS rr (shard, run_id, route_id, lane, last_tag, tag_offset, head)
            SELECT \(shard.rawValue), \(run.rawValue), cut.route_id, this.lane,
                sum(greatest(1, cut.n * 1000::bigint / this.weight)),
                greatest(0, this.vtime - 1),
                CASE WHEN this.status = 1 AND bool_or(cut.due_at <= now()) THEN greatest(1, this.vtime) END
            FROM cut
            CROSS JOIN this
            WHERE cut.skip = 0
            GROUP BY cut.route_id, this.lane, this.status, this.vtime
            ORDER BY cut.route_id
            ON CONFLICT (shard, run_id, route_id) DO UPDATE
            SET last_tag = rr.last_tag + excluded.last_tag,
                tag_offset = CASE
                    WHEN rr.head IS NULL AND excluded.head IS NOT NULL
                    THEN greatest(rr.tag_offset, excluded.tag_offset - rr.last_tag)
                    ELSE rr.tag_offset
                END,
                head = CASE
                    WHEN rr.head IS NULL AND excluded.head IS NOT NULL
                    THEN greatest(excluded.head, rr.tag_offset + rr.last_tag + 1)
                    ELSE rr.head
                END
            RETURNING rr.route_id, rr.last_tag
        ),
        tagged AS MATERIALIZED (
            SELECT cut.batch_id, cut.route_id, cut.skip, cut.due_at, cut.variant,
                CASE WHEN cut.skip > 0 THEN 0 ELSE
                    pair.last_tag + 1 - sum(greatest(1, cut.n * 1000::bigint / this.weight)) OVER (
                        PARTITION BY cut.route_id, cut.skip = 0
                        ORDER BY cut.due_at DESC, cut.slice DESC, cut.variant DESC
                    )
                END AS tag
            FROM cut
            CROSS JOIN this
            LEFT JOIN pair ON pair.route_id = cut.route_id
        ),
        jobs AS (
            -- The number is the subscriber: once per run, whatever page or retry.
            INSERT INTO pushfleet.job (shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal)
            SELECT \(shard.rawValue), this.bucket_id, filled.batches[(s.place - 1) / this.batch_size + 1],
                \(run.rawValue), s.id, s.id, ((s.place - 1) % this.batch_size)::smallint
            FROM this
            CROSS JOIN filled
            CROSS JOIN LATERAL unnest(filled.ids) WITH ORDINALITY AS s (id, place)
            WHERE filled.skip = 0
            RETURNING batch_id, subscriber_id
        ),
        skips AS (
            INSERT INTO pushfleet.delivery (
                shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, reason, variant
            )
            SELECT \(shard.rawValue), \(run.rawValue), s.id, s.id,
                filled.batches[(s.place - 1) / this.batch_size + 1],
                ((s.place - 1) % this.batch_size)::smallint, 6, 0, filled.skip, nullif(filled.variant, 0)
            FROM this
            CROSS JOIN filled
            CROSS JOIN LATERAL unnest(filled.ids) WITH ORDINALITY AS s (id, place)
            WHERE filled.skip > 0
            RETURNING batch_id, subscriber_id
        ),
        counted AS MATERIALIZED (
            SELECT jobs.batch_id, count(*)::int AS n, min(jobs.subscriber_id) AS first_id,
                max(jobs.subscriber_id) AS last_id
            FROM jobs
            GROUP BY jobs.batch_id
            UNION ALL
            SELECT skips.batch_id, count(*)::int, min(skips.subscriber_id), max(skips.subscriber_id)
            FROM skips
            GROUP BY skips.batch_id
        ),
        batches AS (
            INSERT INTO pushfleet.batch (
                shard, id, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, bucket_id,
                size, skipped, state, origin, variant, marked
            )
            SELECT \(shard.rawValue), tagged.batch_id, \(run.rawValue), tagged.route_id, tagged.tag, tagged.due_at,
                tagged.due_at + this.ttl, counted.first_id, counted.last_id,
                CASE WHEN tagged.skip = 0 THEN this.bucket_id END,
                counted.n,
                CASE WHEN tagged.skip = 0 THEN 0 ELSE counted.n END,
                CASE WHEN tagged.skip > 0 THEN 2 WHEN tagged.due_at > now() THEN 5 ELSE 0 END,
                0,
                nullif(tagged.variant, 0),
                repeat(CASE WHEN tagged.skip = 0 THEN '0' ELSE '1' END, counted.n)::varbit
            FROM tagged
            JOIN counted USING (batch_id)
            CROSS JOIN this
        )
        UPDATE pushfleet.run_progress p
        SET last_subscriber_id = coalesce(page_end.last_id, p.last_subscriber_id),
            targeted = p.targeted + page_end.targeted,
            expanded = page_end.n < \(pageSize)
        FROM (
            SELECT coalesce(sum(page.n), 0)::int AS n, max(page.last_id) AS last_id,
                coalesce(sum(page.n) FILTER (WHERE page.matched), 0)::int AS targeted
            FROM page
        ) page_end
        WHERE p.shard = \(shard.rawValue)
            AND p.run_id = \(run.rawValue)
            AND NOT p.expanded
            AND EXISTS (SELECT FROM progress)
            AND EXISTS (SELECT FROM this)
        RETURNING page_end.targeted, p.expanded
        """
    }
}

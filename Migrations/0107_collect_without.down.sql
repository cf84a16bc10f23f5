DROP FUNCTION pushfleet.collect(smallint, uuid, integer, integer, bigint[]);
DROP FUNCTION pushfleet.due_notifications;

CREATE OR REPLACE FUNCTION pushfleet.collect(in_shard smallint, by_worker uuid, as_claim integer, at_most integer)
RETURNS TABLE (
    id bigint, run_id bigint, route_id bigint, bucket_id integer, epoch integer, size integer, announced smallint,
    marked bit varying, lapses smallint, content_version bigint, expires_at timestamp with time zone, in_doubt smallint,
    announce_window smallint, is_collected boolean, lane smallint, max_attempts smallint, horizon_ms bigint,
    run_rate integer, route_rate integer, app_rate integer, is_limited boolean, content_versions bigint[]
)
    LANGUAGE plpgsql
    SET search_path TO 'pushfleet', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT n.id
        FROM pushfleet.notification n
        JOIN pushfleet.run ON run.id = n.run_id AND run.status = 1
        JOIN pushfleet.app ON app.id = run.app_id AND app.paused_at IS NULL
        WHERE n.shard = in_shard
            AND n.due_at <= clock_timestamp()
            AND EXISTS (SELECT FROM pushfleet.worker w WHERE w.id = by_worker AND w.lease_until > now())
        ORDER BY n.due_at, n.id
        LIMIT at_most
        FOR UPDATE OF n SKIP LOCKED
    ),
    taken AS (
        DELETE FROM pushfleet.notification n
        USING due
        WHERE n.shard = in_shard AND n.id = due.id
        RETURNING n.id, n.run_id, n.subscriber_id, n.content_version, n.due_at, n.expires_at
    ),
    placed AS MATERIALIZED (
        SELECT taken.*, coalesce(route.id, 0) AS route_id,
            CASE
                WHEN s.id IS NULL THEN 3
                WHEN s.state > 2 THEN 1
                WHEN s.transport = 3 AND (
                    -- A browser, and nothing to show it.
                    SELECT version.message -> 'silent' = 'true'
                    FROM pushfleet.content_version version
                    WHERE version.id = taken.content_version
                ) THEN 7
                WHEN route.id IS NULL THEN 2
                ELSE 0
            END AS skip,
            run.announce_window, run.in_doubt, run.lane
        FROM taken
        JOIN pushfleet.run ON run.id = taken.run_id
        LEFT JOIN pushfleet.subscriber s ON s.shard = in_shard AND s.id = taken.subscriber_id
        LEFT JOIN pushfleet.route
            ON route.app_id = run.app_id
            AND route.transport = s.transport
            AND route.service = s.service
            AND route.state <> 2
    ),
    cut AS MATERIALIZED (
        SELECT nextval(pg_get_serial_sequence('pushfleet.batch', 'id')) AS batch_id, g.*,
            (SELECT max(bucket.id) FROM pushfleet.bucket WHERE bucket.sealed_at IS NULL) AS bucket_id
        FROM (
            SELECT p.run_id, p.route_id, p.skip > 0 AS is_skipped, p.announce_window, p.in_doubt, p.lane,
                count(*)::int AS n, min(p.due_at) AS due_at, max(p.expires_at) AS expires_at,
                min(p.subscriber_id) AS first_id, max(p.subscriber_id) AS last_id,
                array_agg(DISTINCT p.content_version) AS versions
            FROM placed p
            GROUP BY p.run_id, p.route_id, p.skip > 0, p.announce_window, p.in_doubt, p.lane
        ) g
    ),
    ranked AS MATERIALIZED (
        SELECT p.*, cut.batch_id, cut.bucket_id,
            (row_number() OVER (PARTITION BY cut.batch_id ORDER BY p.id) - 1)::smallint AS ordinal
        FROM placed p
        JOIN cut ON cut.run_id = p.run_id AND cut.route_id = p.route_id AND cut.is_skipped = (p.skip > 0)
    ),
    pair AS (
        -- So that the ordinary claim finds what is rescued or retried.
        INSERT INTO pushfleet.run_route (shard, run_id, route_id, lane)
        SELECT DISTINCT in_shard, cut.run_id, cut.route_id, cut.lane
        FROM cut
        WHERE NOT cut.is_skipped
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.run_route known
                WHERE known.shard = in_shard
                    AND known.run_id = cut.run_id
                    AND known.route_id = cut.route_id
            )
        ORDER BY 2, 3
        ON CONFLICT (shard, run_id, route_id) DO NOTHING
    ),
    jobs AS (
        INSERT INTO pushfleet.job (
            shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal, content_version, expires_at
        )
        SELECT in_shard, k.bucket_id, k.batch_id, k.run_id, k.id, k.subscriber_id, k.ordinal,
            k.content_version, k.expires_at
        FROM ranked k
        WHERE k.skip = 0
        RETURNING batch_id
    ),
    skips AS (
        INSERT INTO pushfleet.delivery (
            shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, reason, content_version
        )
        SELECT in_shard, k.run_id, k.id, k.subscriber_id, k.batch_id, k.ordinal, 6, 0, k.skip,
            k.content_version
        FROM ranked k
        WHERE k.skip > 0
        RETURNING batch_id
    ),
    counted AS MATERIALIZED (
        SELECT jobs.batch_id, count(*)::int AS n FROM jobs GROUP BY jobs.batch_id
        UNION ALL
        SELECT skips.batch_id, count(*)::int FROM skips GROUP BY skips.batch_id
    ),
    made AS (
        INSERT INTO pushfleet.batch (
            shard, id, run_id, route_id, tag, due_at, expires_at, holder, first_subscriber_id, last_subscriber_id,
            content_version, bucket_id, epoch, claim_no, size, collected, skipped, state, origin, announced, marked
        )
        SELECT in_shard, cut.batch_id, cut.run_id, cut.route_id, 0, cut.due_at, cut.expires_at,
            CASE WHEN NOT cut.is_skipped THEN by_worker END, cut.first_id, cut.last_id, cut.versions[1],
            CASE WHEN NOT cut.is_skipped THEN cut.bucket_id END, 1, as_claim, counted.n, cut.n,
            CASE WHEN cut.is_skipped THEN counted.n ELSE 0 END, CASE WHEN cut.is_skipped THEN 2 ELSE 1 END, 0,
            CASE WHEN cut.is_skipped THEN 0 ELSE least(counted.n, cut.announce_window) END,
            repeat(CASE WHEN cut.is_skipped THEN '1' ELSE '0' END, counted.n)::varbit
        FROM cut
        JOIN counted USING (batch_id)
        RETURNING id, run_id, route_id, bucket_id, epoch, size, announced, marked, lapses, content_version,
            expires_at, state
    )
    SELECT made.id, made.run_id, made.route_id, made.bucket_id, made.epoch, made.size, made.announced, made.marked,
        made.lapses, made.content_version, made.expires_at, cut.in_doubt, cut.announce_window, true, cut.lane,
        run.max_attempts, (extract(epoch FROM run.retry_horizon) * 1000)::bigint, run.rate,
        pushfleet.route_rate(
            route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, now()),
        app.rate, app.cap_most IS NOT NULL OR app.quiet_from IS NOT NULL, cut.versions
    FROM made
    JOIN cut ON cut.batch_id = made.id
    JOIN pushfleet.run ON run.id = made.run_id
    JOIN pushfleet.route ON route.id = made.route_id
    JOIN pushfleet.app ON app.id = run.app_id
    WHERE made.state = 1;
END
$$;

CREATE INDEX notification_by_run ON pushfleet.notification (shard, run_id);
DROP INDEX pushfleet.notification_by_run_due;

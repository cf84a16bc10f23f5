-- Counts the deliveries of a shard that were not counted yet, at most `span` of time; how many. The mark moves in the same
-- transaction, so each is counted once; a second one that runs at the same time finds nothing to do.
CREATE OR REPLACE FUNCTION pushfleet.fold(in_shard smallint, span interval DEFAULT '10 min') RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
DECLARE
    since timestamptz;
    upto timestamptz;
    counted bigint;
BEGIN
    INSERT INTO pushfleet.tally_mark (shard, folded_until)
    SELECT in_shard, coalesce(
        (SELECT date_trunc('hour', min(r.created_at)) FROM pushfleet.run r), date_trunc('hour', now()))
    ON CONFLICT (shard) DO NOTHING;
    SELECT m.folded_until INTO since FROM pushfleet.tally_mark m WHERE m.shard = in_shard FOR UPDATE SKIP LOCKED;
    upto := least(since + span, pushfleet.settled_until());
    IF since IS NULL OR upto <= since THEN
        RETURN 0;
    END IF;
    WITH fresh AS MATERIALIZED (
        SELECT date_trunc('hour', d.at) AS hour, d.run_id, b.route_id, coalesce(d.content_version, 0) AS content_version,
            d.outcome, d.reason, coalesce(d.variant, 0::smallint) AS variant, d.attempts,
            pushfleet.language_label(s.language) AS asked, coalesce(d.language, '') AS served,
            CASE WHEN d.sent_at IS NOT NULL THEN pushfleet.latency_class(1000 * extract(epoch FROM d.sent_at - b.due_at))
            END AS to_sent,
            CASE WHEN d.answer_ms IS NOT NULL THEN pushfleet.latency_class(d.answer_ms) END AS to_answer
        FROM pushfleet.delivery d
        JOIN pushfleet.batch b ON b.shard = d.shard AND b.id = d.batch_id
        LEFT JOIN pushfleet.subscriber s ON s.shard = d.shard AND s.id = d.subscriber_id
        WHERE d.shard = in_shard AND d.at >= since AND d.at < upto
    ),
    outcomes AS (
        INSERT INTO pushfleet.tally AS t (
            hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served
        )
        SELECT f.hour, f.run_id, f.route_id, f.content_version, count(*), sum(f.attempts), f.outcome, f.reason, f.variant,
            f.asked, f.served
        FROM fresh f
        GROUP BY f.hour, f.run_id, f.route_id, f.content_version, f.outcome, f.reason, f.variant, f.asked, f.served
        ON CONFLICT (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served) DO UPDATE
        SET n = t.n + excluded.n, attempts = t.attempts + excluded.attempts
        RETURNING 1
    ),
    latencies AS (
        INSERT INTO pushfleet.tally_latency AS t (hour, run_id, route_id, n, kind, class)
        SELECT f.hour, f.run_id, f.route_id, count(*), k.kind, k.class
        FROM fresh f
        CROSS JOIN LATERAL (VALUES (1::smallint, f.to_sent), (2::smallint, f.to_answer)) k (kind, class)
        WHERE k.class IS NOT NULL
        GROUP BY f.hour, f.run_id, f.route_id, k.kind, k.class
        ON CONFLICT (run_id, hour, route_id, kind, class) DO UPDATE SET n = t.n + excluded.n
        RETURNING 1
    )
    SELECT count(*) INTO counted FROM fresh;
    UPDATE pushfleet.tally_mark SET folded_until = upto WHERE shard = in_shard;
    RETURN counted;
END
$$;
DROP FUNCTION pushfleet.summarize_day;

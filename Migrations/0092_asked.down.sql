-- Counts the deliveries of a shard that were not counted yet, at most `span` of time within one hour; how many. The mark
-- moves in the same transaction, so each is counted once; a second one that runs at the same time finds nothing to do.
--
-- One pass counts by outcome and by both latencies. The planner knows nothing of what came in during the last seconds and
-- would now read every subscriber, now sort; so subscribers are looked up by key, pages by time, and batches and groups are
-- hashed.
CREATE OR REPLACE FUNCTION pushfleet.fold(in_shard smallint, span interval DEFAULT '10 min') RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
SET enable_seqscan = off
SET enable_sort = off
SET enable_nestloop = off
SET enable_mergejoin = off
SET jit = off
AS $$
DECLARE
    since timestamptz;
    upto timestamptz;
    counted bigint;
BEGIN
    INSERT INTO pushfleet.tally_mark (shard, folded_until)
    SELECT in_shard, coalesce((SELECT min(r.created_at) FROM pushfleet.run r), now()) - interval '1 min'
    ON CONFLICT (shard) DO NOTHING;
    SELECT m.folded_until INTO since FROM pushfleet.tally_mark m WHERE m.shard = in_shard FOR UPDATE SKIP LOCKED;
    upto := least(since + span, date_trunc('hour', since) + interval '1 hour', pushfleet.settled_until());
    IF since IS NULL OR upto <= since THEN
        RETURN 0;
    END IF;
    PERFORM pushfleet.summarize_day('delivery', (since AT TIME ZONE 'UTC')::date);
    WITH known AS MATERIALIZED (
        SELECT b.id, b.route_id, b.due_at
        FROM pushfleet.batch b
        WHERE b.shard = in_shard
            AND b.id = ANY (ARRAY(
                SELECT DISTINCT d.batch_id
                FROM pushfleet.delivery d
                WHERE d.shard = in_shard AND d.at >= since AND d.at < upto))
    ),
    fresh AS (
        SELECT d.run_id, b.route_id, d.content_version, d.outcome, d.reason, d.variant, d.attempts, s.language AS asked,
            d.language AS served,
            CASE WHEN d.sent_at IS NOT NULL THEN
                pushfleet.latency_class(1000 * date_part('epoch', d.sent_at - b.due_at))
            END AS to_sent,
            CASE WHEN d.answer_ms IS NOT NULL THEN pushfleet.latency_class(d.answer_ms) END AS to_answer
        FROM pushfleet.delivery d
        JOIN known b ON b.id = d.batch_id
        LEFT JOIN LATERAL (
            SELECT subscriber.language
            FROM pushfleet.subscriber
            WHERE subscriber.shard = in_shard AND subscriber.id = d.subscriber_id
            OFFSET 0
        ) s ON true
        WHERE d.shard = in_shard AND d.at >= since AND d.at < upto
    ),
    grouped AS MATERIALIZED (
        SELECT f.run_id, f.route_id, f.content_version, f.outcome, f.reason, f.variant, f.asked, f.served, f.to_sent,
            f.to_answer, count(*) AS n, sum(f.attempts) AS attempts,
            grouping(f.outcome, f.to_sent, f.to_answer) AS absent
        FROM fresh f
        GROUP BY GROUPING SETS (
            (f.run_id, f.route_id, f.content_version, f.outcome, f.reason, f.variant, f.asked, f.served),
            (f.run_id, f.route_id, f.to_sent),
            (f.run_id, f.route_id, f.to_answer)
        )
    ),
    outcomes AS (
        INSERT INTO pushfleet.tally AS t (
            hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served
        )
        SELECT date_trunc('hour', since), g.run_id, g.route_id, coalesce(g.content_version, 0), sum(g.n), sum(g.attempts),
            g.outcome, g.reason, coalesce(g.variant, 0::smallint), pushfleet.language_label(g.asked), coalesce(g.served, '')
        FROM grouped g
        WHERE g.absent = b'011'::int
        GROUP BY g.run_id, g.route_id, coalesce(g.content_version, 0), g.outcome, g.reason,
            coalesce(g.variant, 0::smallint), pushfleet.language_label(g.asked), coalesce(g.served, '')
        ON CONFLICT (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served) DO UPDATE
        SET n = t.n + excluded.n, attempts = t.attempts + excluded.attempts
        RETURNING 1
    ),
    latencies AS (
        INSERT INTO pushfleet.tally_latency AS t (hour, run_id, route_id, n, kind, class)
        SELECT date_trunc('hour', since), g.run_id, g.route_id, g.n, k.kind, k.class
        FROM grouped g
        JOIN LATERAL (
            VALUES (1::smallint, b'101'::int, g.to_sent), (2::smallint, b'110'::int, g.to_answer)
        ) k (kind, absent, class) ON k.absent = g.absent
        WHERE k.class IS NOT NULL
        ON CONFLICT (run_id, hour, route_id, kind, class) DO UPDATE SET n = t.n + excluded.n
        RETURNING 1
    )
    SELECT coalesce(sum(g.n), 0) INTO counted FROM grouped g WHERE g.absent = b'011'::int;
    UPDATE pushfleet.tally_mark SET folded_until = upto WHERE shard = in_shard;
    RETURN counted;
END
$$;

ALTER TABLE pushfleet.delivery DROP COLUMN asked;

-- why: what is too old is found by indexes, where whole tables were read every five minutes
-- locks: token_tally, against its writer, while the index is built; no writer of the queue waits
-- safe with workers running: yes
-- lowest binary: 1

-- Counts of other hours than the first of a UTC day: those go first.
CREATE INDEX token_tally_hourly ON pushfleet.token_tally (counted_at)
    WHERE extract(hour FROM counted_at AT TIME ZONE 'UTC') <> 0;

-- Clears at most so many rows of each kind; how many.
CREATE OR REPLACE FUNCTION pushfleet.forget_old(at_most int) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
-- Planned for as many rows as are asked for: planned for any number, it would read whole tables.
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    cleared bigint;
BEGIN
    WITH
    keep AS MATERIALIZED (SELECT r.what, now() - r.keep AS since FROM pushfleet.retention r),
    over AS MATERIALIZED (
        -- Closed, audited, counted: its batches and pairs say nothing that its totals do not.
        SELECT run.id
        FROM pushfleet.run
        JOIN pushfleet.run_total t ON t.run_id = run.id AND t.audited_at IS NOT NULL
        WHERE run.closed_at < (SELECT keep.since FROM keep WHERE keep.what = 'batch')
            AND run.closed_at < (SELECT min(m.folded_until) FROM pushfleet.tally_mark m)
            AND EXISTS (SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id)
        ORDER BY run.id
        LIMIT 20
    ),
    batches AS (
        DELETE FROM pushfleet.batch b
        USING (
            SELECT c.shard, c.id
            FROM over
            JOIN pushfleet.run_progress p ON p.run_id = over.id
            JOIN pushfleet.batch c ON c.shard = p.shard AND c.run_id = over.id
            WHERE c.state = 2
            LIMIT at_most
        ) old
        WHERE b.shard = old.shard AND b.id = old.id
        RETURNING b.shard, b.run_id
    ),
    emptied AS MATERIALIZED (
        -- The pairs and the progress go with the last batch; deleted rows still show in this snapshot.
        SELECT p.shard, p.run_id
        FROM over
        JOIN pushfleet.run_progress p ON p.run_id = over.id
        WHERE NOT EXISTS (SELECT FROM pushfleet.batch b WHERE b.shard = p.shard AND b.run_id = p.run_id)
    ),
    pairs AS (
        DELETE FROM pushfleet.run_route rr USING emptied
        WHERE rr.shard = emptied.shard AND rr.run_id = emptied.run_id
        RETURNING 1
    ),
    progress AS (
        DELETE FROM pushfleet.run_progress p USING emptied
        WHERE p.shard = emptied.shard AND p.run_id = emptied.run_id
        RETURNING 1
    ),
    tallies AS (
        DELETE FROM pushfleet.tally t
        USING (
            SELECT o.ctid
            FROM pushfleet.tally o
            WHERE o.hour < (SELECT keep.since FROM keep WHERE keep.what = 'tally')
            ORDER BY o.hour
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    latencies AS (
        DELETE FROM pushfleet.tally_latency t
        USING (
            SELECT o.ctid
            FROM pushfleet.tally_latency o
            WHERE o.hour < (SELECT keep.since FROM keep WHERE keep.what = 'tally')
            ORDER BY o.hour
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    hours AS (
        DELETE FROM pushfleet.tally_hour t
        WHERE t.hour < (SELECT keep.since FROM keep WHERE keep.what = 'tally')
        RETURNING 1
    ),
    days AS (
        DELETE FROM pushfleet.tally_day t
        WHERE t.day < (SELECT (keep.since AT TIME ZONE 'UTC')::date FROM keep WHERE keep.what = 'tally')
        RETURNING 1
    ),
    counts AS (
        DELETE FROM pushfleet.token_tally t
        USING (
            SELECT o.ctid
            FROM pushfleet.app
            CROSS JOIN LATERAL (
                SELECT c.ctid
                FROM pushfleet.token_tally c
                WHERE c.app_id = app.id
                    AND c.counted_at < (SELECT keep.since FROM keep WHERE keep.what = 'token_tally')
                LIMIT at_most
            ) o
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    hourly_counts AS (
        -- All but one count of a day go after a week.
        DELETE FROM pushfleet.token_tally t
        USING (
            SELECT o.ctid
            FROM pushfleet.token_tally o
            WHERE o.counted_at < now() - interval '7 days'
                AND extract(hour FROM o.counted_at AT TIME ZONE 'UTC') <> 0
            ORDER BY o.counted_at
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM batches) + (SELECT count(*) FROM pairs) + (SELECT count(*) FROM progress)
        + (SELECT count(*) FROM tallies) + (SELECT count(*) FROM latencies) + (SELECT count(*) FROM hours)
        + (SELECT count(*) FROM days) + (SELECT count(*) FROM counts) + (SELECT count(*) FROM hourly_counts)
    INTO cleared;
    RETURN cleared;
END
$$;

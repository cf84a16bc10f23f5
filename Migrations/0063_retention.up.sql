-- why: what is old goes: days of deliveries and attempts as whole partitions, batches of closed runs, old tallies
-- locks: run_total gets two columns; a moment's lock, no rewrite
-- safe with workers running: yes
-- lowest binary: 1

CREATE TABLE pushfleet.retention (
    what text PRIMARY KEY,
    keep interval NOT NULL,
    CONSTRAINT retention_what CHECK (what IN ('delivery', 'attempt', 'batch', 'tally', 'token_tally')),
    CONSTRAINT retention_keep CHECK (keep >= interval '1 day')
);
INSERT INTO pushfleet.retention (what, keep)
VALUES ('delivery', '35 days'), ('attempt', '14 days'), ('batch', '7 days'), ('tally', '800 days'), ('token_tally', '400 days');
COMMENT ON TABLE pushfleet.retention IS 'How long each kind of row is kept; tallies outlive the rows that they count.';

ALTER TABLE pushfleet.run_total
    ADD COLUMN audited_at timestamptz,
    ADD COLUMN audit_problems int;
COMMENT ON COLUMN pushfleet.run_total.audit_problems IS 'Rows that audit() found when the run had been closed; 0 is the good answer.';

-- The next closed run whose rows were not audited yet.
CREATE FUNCTION pushfleet.audit_next() RETURNS TABLE (run_id bigint, problems int)
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    next_run bigint;
    problem_count int;
BEGIN
    SELECT t.run_id INTO next_run
    FROM pushfleet.run_total t
    WHERE t.audited_at IS NULL
    ORDER BY t.run_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF next_run IS NULL THEN
        RETURN;
    END IF;
    SELECT count(*)::int INTO problem_count FROM pushfleet.audit(next_run);
    UPDATE pushfleet.run_total t SET audited_at = now(), audit_problems = problem_count WHERE t.run_id = next_run;
    RETURN QUERY SELECT next_run, problem_count;
END
$$;
CREATE INDEX run_total_unaudited ON pushfleet.run_total (run_id) WHERE audited_at IS NULL;

-- Partitions that may go: older than what is kept, counted, and of no run that is open or not audited. The names are
-- quoted as identifiers.
CREATE FUNCTION pushfleet.expired_days() RETURNS TABLE (parent text, child text, is_pending boolean)
LANGUAGE sql
STABLE
SET search_path = pushfleet, pg_temp
AS $$
    SELECT kind.what, format('%I', c.relname), i.inhdetachpending
    FROM (VALUES ('delivery'), ('attempt')) kind (what)
    JOIN pushfleet.retention r ON r.what = kind.what
    JOIN pg_inherits i ON i.inhparent = ('pushfleet.' || kind.what)::regclass
    JOIN pg_class c ON c.oid = i.inhrelid
    CROSS JOIN LATERAL (
        SELECT (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' AS ends_at
    ) day
    WHERE day.ends_at < now() - r.keep
        AND (SELECT min(m.folded_until) FROM pushfleet.tally_mark m) >= day.ends_at
        AND NOT EXISTS (
            SELECT FROM pushfleet.run
            LEFT JOIN pushfleet.run_total t ON t.run_id = run.id
            WHERE run.created_at < day.ends_at AND t.audited_at IS NULL
        )
    ORDER BY c.relname
$$;

-- Clears at most so many rows of each kind; how many.
CREATE FUNCTION pushfleet.forget_old(at_most int) RETURNS bigint
LANGUAGE sql
SET search_path = pushfleet, pg_temp
AS $$
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
            LIMIT at_most
        ) old
        WHERE t.ctid = old.ctid
        RETURNING 1
    ),
    tokens AS (
        DELETE FROM pushfleet.token_tally t
        WHERE t.counted_at < (SELECT keep.since FROM keep WHERE keep.what = 'token_tally')
            -- All but the last count of a day go after a week.
            OR (t.counted_at < now() - interval '7 days' AND extract(hour FROM t.counted_at AT TIME ZONE 'UTC') <> 0)
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM batches) + (SELECT count(*) FROM pairs) + (SELECT count(*) FROM progress)
        + (SELECT count(*) FROM tallies) + (SELECT count(*) FROM latencies) + (SELECT count(*) FROM tokens)
$$;

REVOKE ALL ON FUNCTION pushfleet.audit_next, pushfleet.expired_days, pushfleet.forget_old FROM PUBLIC;

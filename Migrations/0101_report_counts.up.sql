-- why: a subscriber was counted twice when an hour was counted again; single notifications that wait for another attempt or a
-- later time were not found in their lane, and what was paused on purpose was late; jobs were called addresses
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

CREATE OR REPLACE FUNCTION pushfleet.count_tokens() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    WITH counted AS MATERIALIZED (
        SELECT s.app_id, s.transport, s.state,
            date_trunc('month', s.registered_at AT TIME ZONE 'UTC')::date AS registered_month,
            CASE
                WHEN s.seen_at IS NULL THEN -1
                WHEN s.seen_at > now() - interval '1 day' THEN 1
                WHEN s.seen_at > now() - interval '7 days' THEN 7
                WHEN s.seen_at > now() - interval '30 days' THEN 30
                WHEN s.seen_at > now() - interval '90 days' THEN 90
                WHEN s.seen_at > now() - interval '270 days' THEN 270
                ELSE 32767
            END AS seen_days,
            count(*) AS n
        FROM pushfleet.subscriber s
        GROUP BY 1, 2, 3, 4, 5
    ),
    gone AS (
        -- Counted earlier in this hour, by another janitor or the one before, and empty since.
        DELETE FROM pushfleet.token_tally t
        WHERE t.counted_at = date_trunc('hour', now())
            AND NOT EXISTS (
                SELECT
                FROM counted c
                WHERE (c.app_id, c.transport, c.state, c.registered_month, c.seen_days)
                    = (t.app_id, t.transport, t.state, t.registered_month, t.seen_days)
            )
    )
    INSERT INTO pushfleet.token_tally (counted_at, app_id, transport, state, registered_month, seen_days, n)
    SELECT date_trunc('hour', now()), c.app_id, c.transport, c.state, c.registered_month, c.seen_days, c.n
    FROM counted c
    ON CONFLICT (app_id, counted_at, transport, state, registered_month, seen_days) DO UPDATE SET n = excluded.n
$$;

CREATE OR REPLACE VIEW pushfleet_report.queue AS
SELECT lane.name AS lane, coalesce(open.jobs, 0)::bigint + waiting.n + waiting.later AS jobs,
    coalesce(open.ready, 0)::bigint + waiting.n AS ready, coalesce(open.leased, 0)::bigint AS leased,
    coalesce(open.scheduled, 0)::bigint + waiting.later AS scheduled,
    coalesce(retry.n, 0) AS retrying,
    coalesce(greatest(now() - least(open.oldest_due_at, waiting.oldest_due_at), interval '0'), interval '0')
        AS oldest_due_age
FROM (VALUES (0::smallint, 'transactional'), (1::smallint, 'campaign')) lane (code, name)
LEFT JOIN LATERAL (
    SELECT sum(b.size - b.settled) AS jobs, sum(b.size - b.settled) FILTER (WHERE b.state = 0) AS ready,
        sum(b.size - b.settled) FILTER (WHERE b.state = 1) AS leased,
        sum(b.size - b.settled) FILTER (WHERE b.state = 5) AS scheduled,
        -- What somebody paused is not late.
        min(b.due_at) FILTER (
            WHERE b.state IN (0, 1) AND run.status = 1 AND app.paused_at IS NULL AND coalesce(route.state, 0) = 0
        ) AS oldest_due_at
    FROM pushfleet.batch b
    JOIN pushfleet.run ON run.id = b.run_id AND run.lane = lane.code
    JOIN pushfleet.app ON app.id = run.app_id
    LEFT JOIN pushfleet.route ON route.id = b.route_id
    WHERE b.state IN (0, 1, 5)
) open ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS n
    FROM pushfleet.retry
    JOIN pushfleet.run ON run.id = retry.run_id AND run.lane = lane.code
) retry ON true
LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE n.due_at <= now()) AS n, count(*) FILTER (WHERE n.due_at > now()) AS later,
        min(n.due_at) FILTER (WHERE n.due_at <= now() AND run.status = 1 AND app.paused_at IS NULL) AS oldest_due_at
    FROM pushfleet.notification n
    JOIN pushfleet.run ON run.id = n.run_id
    JOIN pushfleet.app ON app.id = run.app_id
    WHERE lane.code = 0
) waiting ON true;
COMMENT ON VIEW pushfleet_report.queue IS 'How much waits in each lane, and since when the oldest is due that nobody paused.';

ALTER VIEW pushfleet_report.newly_unregistered RENAME COLUMN subscribers TO jobs;
COMMENT ON VIEW pushfleet_report.newly_unregistered IS
    'Jobs that a provider answered with a dead address, by UTC day: an address that was sent to twice counts twice.';

-- Whether a scheduler is at work, for the janitor's gauge.
GRANT SELECT ON pushfleet.lane_clock TO pushfleet_janitor;

CREATE OR REPLACE FUNCTION pushfleet.count_tokens() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pushfleet', 'pg_temp'
    AS $$
    INSERT INTO pushfleet.token_tally (counted_at, app_id, transport, state, registered_month, seen_days, n)
    SELECT date_trunc('hour', now()), s.app_id, s.transport, s.state,
        date_trunc('month', s.registered_at AT TIME ZONE 'UTC')::date,
        CASE
            WHEN s.seen_at IS NULL THEN -1
            WHEN s.seen_at > now() - interval '1 day' THEN 1
            WHEN s.seen_at > now() - interval '7 days' THEN 7
            WHEN s.seen_at > now() - interval '30 days' THEN 30
            WHEN s.seen_at > now() - interval '90 days' THEN 90
            WHEN s.seen_at > now() - interval '270 days' THEN 270
            ELSE 32767
        END,
        count(*)
    FROM pushfleet.subscriber s
    GROUP BY 2, 3, 4, 5, 6
    ON CONFLICT (app_id, counted_at, transport, state, registered_month, seen_days) DO UPDATE SET n = excluded.n
$$;

CREATE OR REPLACE VIEW pushfleet_report.queue AS
SELECT lane.name AS lane, coalesce(open.jobs, 0)::bigint + waiting.n AS jobs,
    coalesce(open.ready, 0)::bigint + waiting.n AS ready, coalesce(open.leased, 0)::bigint AS leased,
    coalesce(open.scheduled, 0)::bigint AS scheduled,
    CASE WHEN lane.code = 1 THEN coalesce(retry.n, 0) ELSE 0 END AS retrying,
    coalesce(greatest(now() - least(open.oldest_due_at, waiting.oldest_due_at), interval '0'), interval '0')
        AS oldest_due_age
FROM (VALUES (0::smallint, 'transactional'), (1::smallint, 'campaign')) lane (code, name)
LEFT JOIN LATERAL (
    SELECT sum(b.size - b.settled) AS jobs, sum(b.size - b.settled) FILTER (WHERE b.state = 0) AS ready,
        sum(b.size - b.settled) FILTER (WHERE b.state = 1) AS leased,
        sum(b.size - b.settled) FILTER (WHERE b.state = 5) AS scheduled,
        min(b.due_at) FILTER (WHERE b.state IN (0, 1)) AS oldest_due_at
    FROM pushfleet.batch b
    JOIN pushfleet.run ON run.id = b.run_id AND run.lane = lane.code
    WHERE b.state IN (0, 1, 5)
) open ON true
LEFT JOIN LATERAL (SELECT count(*) AS n FROM pushfleet.retry) retry ON true
LEFT JOIN LATERAL (
    SELECT count(*) AS n, min(n.due_at) AS oldest_due_at
    FROM pushfleet.notification n
    WHERE lane.code = 0 AND n.due_at <= now()
) waiting ON true;
COMMENT ON VIEW pushfleet_report.queue IS 'How much waits in each lane, and since when the oldest is due.';

ALTER VIEW pushfleet_report.newly_unregistered RENAME COLUMN jobs TO subscribers;
COMMENT ON VIEW pushfleet_report.newly_unregistered IS 'Addresses that a provider called dead, by UTC day.';

REVOKE SELECT ON pushfleet.lane_clock FROM pushfleet_janitor;

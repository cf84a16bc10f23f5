-- why: explain() tells how full a user's cap is and until when it is quiet; a view of what went past them
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- Two members more in a long function that otherwise stays as it is.
DO $do$
DECLARE
    changed text := pg_get_functiondef('pushfleet.explain'::regproc);
    part text[];
BEGIN
    FOREACH part SLICE 1 IN ARRAY ARRAY[
        [$old$            s.language, s.time_zone, s.address_version
        FROM pushfleet.app a$old$, $new$            s.language, s.time_zone, s.address_version, a.cap_most, a.cap_window,
            pushfleet.quiet_end(now(), s.time_zone, a.time_zone, a.quiet_from, a.quiet_until) AS quiet_until,
            CASE WHEN a.cap_most IS NOT NULL THEN coalesce('u:' || s.user_id, 's:' || s.id) END AS user_key
        FROM pushfleet.app a$new$],
        [$old$                    ELSE 'open'
                END)) AS detail
        FROM who
$old$, $new$                    ELSE 'open'
                END,
                'quiet_until', who.quiet_until,
                'frequency_cap', CASE WHEN who.cap_most IS NOT NULL THEN jsonb_build_object(
                    'most', who.cap_most, 'window', who.cap_window, 'taken', taken.n,
                    -- When the next is possible; left out = now.
                    'room_at', taken.room_at)
                END)) AS detail
        FROM who
        LEFT JOIN LATERAL (
            SELECT count(*) AS n,
                CASE WHEN count(*) >= who.cap_most
                    THEN (array_agg(hit.at ORDER BY hit.at DESC))[who.cap_most] + who.cap_window
                END AS room_at
            FROM pushfleet.frequency f
            CROSS JOIN LATERAL unnest(f.hit_at) AS hit (at)
            WHERE f.app_id = the_app AND f.user_key = who.user_key AND hit.at > now() - who.cap_window
        ) taken ON true
$new$]
    ] LOOP
        IF strpos(changed, part[1]) = 0 THEN
            RAISE EXCEPTION 'explain() is not the function that this migration knows';
        END IF;
        changed := replace(changed, part[1], part[2]);
    END LOOP;
    EXECUTE changed;
END
$do$;

CREATE VIEW pushfleet_report.bypasses AS
SELECT b.at, app.name AS app, b.campaign_id, coalesce(campaign.name, 'single notifications') AS name,
    array_remove(
        ARRAY[CASE WHEN b.rules & 1 > 0 THEN 'frequency_cap' END, CASE WHEN b.rules & 2 > 0 THEN 'quiet_hours' END], NULL
    ) AS rules,
    b.reason, b.caller, b.content_version,
    (
        SELECT coalesce(sum(t.n), 0)::bigint
        FROM pushfleet.run
        JOIN pushfleet.tally t ON t.run_id = run.id AND t.content_version = b.content_version
        WHERE run.id = b.run_id OR run.campaign_id = b.campaign_id
    ) AS jobs
FROM pushfleet.bypass b
JOIN pushfleet.app ON app.id = b.app_id
LEFT JOIN pushfleet.campaign ON campaign.id = b.campaign_id;
COMMENT ON VIEW pushfleet_report.bypasses IS
    'Who sent past a frequency cap or quiet hours, why, and how many jobs so far. Callers who say the same share the jobs.';
GRANT SELECT ON pushfleet_report.bypasses TO pushfleet_reporter;

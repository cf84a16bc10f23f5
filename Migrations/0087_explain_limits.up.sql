-- why: explain() tells how full a user's cap is and until when it is quiet; a view of what went past them
-- locks: none
-- safe with workers running: yes
-- lowest binary: 1

-- Recipient as for notify(). One row for each thing that is known, the latest first; rows without an instant are about now.
CREATE OR REPLACE FUNCTION pushfleet.explain(app text, recipient jsonb, which_run bigint DEFAULT NULL, since interval DEFAULT '7 days')
RETURNS TABLE (at timestamptz, subscriber_id bigint, run_id bigint, campaign text, what text, reason text, detail jsonb)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
    the_app bigint;
    problem record;
BEGIN
    SELECT a.id INTO the_app FROM pushfleet.app a WHERE a.name = explain.app;
    IF the_app IS NULL THEN
        RAISE EXCEPTION 'app: there is no app %', coalesce(quote_literal(explain.app), 'NULL') USING ERRCODE = 'PF404';
    END IF;
    SELECT c.* INTO problem FROM pushfleet.check_recipient(recipient) c;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'recipient: %', problem.problem USING ERRCODE = 'PF400';
    END IF;
    RETURN QUERY
    WITH who AS MATERIALIZED (
        SELECT s.shard, s.id, s.transport, s.service, s.state, s.evidence, s.state_since, s.registered_at, s.seen_at,
            s.language, s.time_zone, s.address_version, a.cap_most, a.cap_window,
            pushfleet.quiet_end(now(), s.time_zone, a.time_zone, a.quiet_from, a.quiet_until) AS quiet_until,
            CASE WHEN a.cap_most IS NOT NULL THEN coalesce('u:' || s.user_id, 's:' || s.id) END AS user_key
        FROM pushfleet.app a
        JOIN pushfleet.subscriber s ON s.shard = ANY (a.shards) AND s.app_id = a.id
        WHERE a.id = the_app
            AND CASE
                WHEN recipient ? 'subscriber' THEN s.id = (recipient ->> 'subscriber')::bigint
                WHEN recipient ? 'externalId' THEN s.external_id = recipient ->> 'externalId'
                ELSE s.user_id = recipient ->> 'user'
            END
        LIMIT 100
    ),
    runs AS MATERIALIZED (
        SELECT r.id, r.status, r.due_at, r.audience_as_of, r.closed_at, r.standing,
            coalesce(c.name, 'single notification') AS name
        FROM pushfleet.run r
        LEFT JOIN pushfleet.campaign c ON c.id = r.campaign_id
        WHERE r.app_id = the_app
            AND (which_run IS NULL OR r.id = which_run)
            AND (r.closed_at IS NULL OR r.closed_at > now() - since)
    ),
    story AS (
        -- The subscriber as it is.
        SELECT NULL::timestamptz AS at, who.id, NULL::bigint AS run_id, NULL::text AS name,
            'subscriber is ' || (
                ARRAY['active', 'suspect', 'unregistered', 'of another project', 'quarantined']
            )[who.state] AS what,
            who.evidence AS reason,
            jsonb_strip_nulls(jsonb_build_object(
                'transport', (ARRAY['apns', 'fcm', 'webpush'])[who.transport], 'since', who.state_since,
                'registered_at', who.registered_at, 'seen_at', who.seen_at, 'language', who.language,
                'time_zone', who.time_zone, 'address_version', who.address_version,
                'route', CASE
                    WHEN route.id IS NULL THEN 'there is none: add a credential'
                    WHEN route.state = 1 THEN 'paused'
                    WHEN route.state = 2 THEN 'closed'
                    ELSE 'open'
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
        LEFT JOIN pushfleet.route
            ON route.app_id = the_app AND route.transport = who.transport AND route.service = who.service
        UNION ALL
        SELECT d.at, who.id, d.run_id, NULL,
            (ARRAY['delivered', 'failed', 'unregistered', 'expired', 'cancelled', 'skipped', 'in_doubt'])[d.outcome],
            d.reason,
            jsonb_strip_nulls(jsonb_build_object(
                'number', d.number, 'attempts', d.attempts, 'status', d.status, 'sent_at', d.sent_at,
                'answer_ms', d.answer_ms, 'language', d.language, 'variant', d.variant,
                'content_version', d.content_version, 'address_version', d.address_version,
                'provider_id', d.provider_id))
        FROM who
        JOIN pushfleet.delivery d ON d.subscriber_id = who.id AND d.at > now() - since
        WHERE d.shard = who.shard AND (which_run IS NULL OR d.run_id = which_run)
        UNION ALL
        SELECT t.at, who.id, t.run_id, NULL, 'attempt ' || t.attempts || ' was not final', t.reason,
            jsonb_strip_nulls(jsonb_build_object(
                'number', t.number, 'status', t.status, 'answer_ms', t.answer_ms, 'may_have_left', t.doubtful))
        FROM who
        JOIN pushfleet.attempt t ON t.subscriber_id = who.id AND t.at > now() - since
        WHERE t.shard = who.shard AND (which_run IS NULL OR t.run_id = which_run)
        UNION ALL
        SELECT NULL, who.id, j.run_id, NULL,
            CASE b.state WHEN 0 THEN 'waits for a worker' WHEN 1 THEN 'is with a worker' ELSE 'is scheduled' END,
            NULL,
            jsonb_build_object(
                'number', j.number, 'due_at', b.due_at, 'expires_at', coalesce(j.expires_at, b.expires_at),
                'attempts', j.attempts)
        FROM who
        CROSS JOIN runs
        JOIN pushfleet.batch b
            ON b.shard = who.shard
            AND b.run_id = runs.id
            AND b.state IN (0, 1, 5)
            AND who.id BETWEEN b.first_subscriber_id AND b.last_subscriber_id
        JOIN pushfleet.job j
            ON j.shard = b.shard AND j.bucket_id = b.bucket_id AND j.batch_id = b.id AND j.subscriber_id = who.id
        WHERE runs.closed_at IS NULL AND get_bit(b.marked, j.ordinal) = 0
        UNION ALL
        SELECT NULL, who.id, r.run_id, NULL, 'waits for another attempt', NULL,
            jsonb_build_object(
                'number', r.number, 'due_at', r.due_at, 'expires_at', r.expires_at, 'attempts', r.attempts,
                'may_have_left', r.doubtful)
        FROM who
        CROSS JOIN runs
        JOIN pushfleet.retry r ON r.shard = who.shard AND r.run_id = runs.id AND r.subscriber_id = who.id
        WHERE runs.closed_at IS NULL AND (runs.standing OR r.number = who.id)
        UNION ALL
        SELECT NULL, who.id, n.run_id, NULL, 'waits to be collected', NULL,
            jsonb_build_object('number', n.id, 'due_at', n.due_at, 'expires_at', n.expires_at)
        FROM who
        JOIN pushfleet.notification n ON n.shard = who.shard AND n.subscriber_id = who.id
        UNION ALL
        -- Why not: asked about one run that has nothing for it.
        SELECT NULL, who.id, runs.id, NULL,
            CASE
                WHEN who.registered_at > runs.audience_as_of THEN 'not targeted: it registered after the audience was fixed'
                WHEN NOT p.expanded AND p.last_subscriber_id < who.id THEN 'not reached yet: the run is being expanded'
                ELSE 'not targeted: the audience does not hold it, or it goes back further than ' || since
            END,
            NULL, jsonb_build_object('audience_as_of', runs.audience_as_of)
        FROM who
        CROSS JOIN runs
        JOIN pushfleet.run_progress p ON p.shard = who.shard AND p.run_id = runs.id
        WHERE which_run IS NOT NULL
            AND NOT runs.standing
            AND NOT EXISTS (
                SELECT FROM pushfleet.delivery d
                WHERE d.subscriber_id = who.id AND d.run_id = runs.id AND d.at > now() - since
            )
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.batch b
                JOIN pushfleet.job j
                    ON j.shard = b.shard AND j.bucket_id = b.bucket_id AND j.batch_id = b.id AND j.subscriber_id = who.id
                WHERE b.shard = who.shard AND b.run_id = runs.id AND b.state IN (0, 1, 5)
                    AND who.id BETWEEN b.first_subscriber_id AND b.last_subscriber_id
            )
            AND NOT EXISTS (
                SELECT FROM pushfleet.retry r
                WHERE r.shard = who.shard AND r.run_id = runs.id AND r.subscriber_id = who.id AND r.number = who.id
            )
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, 'no_subscriber: nobody is registered under this', NULL, '{}'
        WHERE NOT EXISTS (SELECT FROM who)
    )
    SELECT story.at, story.id, story.run_id,
        (SELECT coalesce(c.name, 'single notification') FROM pushfleet.run r
            LEFT JOIN pushfleet.campaign c ON c.id = r.campaign_id WHERE r.id = story.run_id),
        story.what, reason.name, story.detail
    FROM story
    LEFT JOIN pushfleet.reason ON reason.code = story.reason AND reason.code > 0
    ORDER BY story.at DESC NULLS FIRST, story.id, story.run_id;
END
$$;

CREATE VIEW pushfleet_report.bypasses AS
SELECT b.at, app.name AS app, b.campaign_id, coalesce(campaign.name, 'single notifications') AS name,
    array_remove(ARRAY[CASE WHEN b.rules & 1 > 0 THEN 'frequency_cap' END, CASE WHEN b.rules & 2 > 0 THEN 'quiet_hours' END], NULL)
        AS rules,
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

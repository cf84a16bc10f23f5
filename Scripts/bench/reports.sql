-- A site's tallies as they stand after :days days: :apps apps, :runs closed campaign runs and 40 that send, one standing run
-- per app and day, :jobs deliveries in all, of which the last week lie in partitions with :a_day rows a day.
-- psql -v apps=20 -v runs=1200 -v days=60 -v jobs=100000000 -v subscribers=200000 -v a_day=500000 -f reports.sql
SET synchronous_commit = off;
SET search_path = pushfleet, pg_temp;

INSERT INTO app (name) SELECT 'app-' || g FROM generate_series(1, :apps) g;
INSERT INTO credential (app_id, name, transport, file)
SELECT app.id, transport.name, transport.code, '/none'
FROM app CROSS JOIN (VALUES (1, 'apple'), (2, 'firebase'), (3, 'web')) transport (code, name);
INSERT INTO route (app_id, transport, credential_id) SELECT c.app_id, c.transport, c.id FROM credential c;
INSERT INTO content_version (message) SELECT '{}' FROM generate_series(1, 4);
INSERT INTO campaign (app_id, name, body_hash, body)
SELECT 1 + g % :apps, 'campaign ' || g, '\x00', '{}' FROM generate_series(1, :runs / 2) g;

-- Two runs of each campaign, spread over the time, then those that send, then the standing ones.
INSERT INTO run (app_id, campaign_id, occurrence_at, status, content_version, due_at, created_at, audience_as_of, closed_at)
SELECT c.app_id, c.id, start.at, 4, 1 + c.id % 4, start.at, start.at, start.at, start.at + interval '3 hours'
FROM generate_series(1, :runs) g
JOIN campaign c ON c.id = 1 + g % (:runs / 2)
CROSS JOIN LATERAL (
    SELECT now() - interval '4 hours' - (:runs - g) * (:days * interval '1 day' / :runs) AS at
) start;
INSERT INTO run (app_id, campaign_id, occurrence_at, status, content_version, due_at, created_at, audience_as_of)
SELECT c.app_id, c.id, now() - g * interval '1 s', 1, 1, now() - interval '1 hour', now() - interval '1 hour', now()
FROM generate_series(1, 40) g JOIN campaign c ON c.id = 1 + g % (:runs / 2);
INSERT INTO run (app_id, occurrence_at, status, lane, standing, content_version, due_at, created_at, closed_at)
SELECT app.id, day, CASE WHEN day < current_date THEN 4 ELSE 1 END, 0, true, 1, day, day,
    CASE WHEN day < current_date THEN day + interval '2 days' END
FROM app CROSS JOIN generate_series(current_date - :days, current_date, interval '1 day') day;

INSERT INTO tally (hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served)
SELECT date_trunc('hour', r.due_at) + h * interval '1 hour', r.id, route.id, r.content_version, size.n, size.n + size.n / 50,
    o.outcome, o.reason, variant, l.asked, (ARRAY['en', 'de', 'fr', 'pt-BR', 'es', 'tr'])[1 + l.place % 6]
FROM run r
JOIN route ON route.app_id = r.app_id
CROSS JOIN generate_series(0, 2) h
CROSS JOIN generate_series(0, 1) variant
CROSS JOIN unnest(string_to_array('en-us,en-gb,en,de,de-at,de-ch,fr,fr-ca,pt-br,pt,es,es-mx,es-419,tr,it,nl,pl,ru,uk,ja,'
    'ko,zh-hans-cn,zh-hant-tw,other', ',')) WITH ORDINALITY l (asked, place)
CROSS JOIN (VALUES (1, 0, 0.95), (2, 210, 0.01), (3, 203, 0.02), (6, 1, 0.02)) o (outcome, reason, share)
CROSS JOIN LATERAL (SELECT greatest(1, round(0.95 * :jobs / (:runs * 432) * o.share))::bigint AS n) size
WHERE NOT r.standing;
INSERT INTO tally (hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served)
SELECT r.due_at + h * interval '1 hour', r.id, route.id, r.content_version, size.n, size.n, o.outcome, o.reason, 0, asked, 'en'
FROM run r
JOIN route ON route.app_id = r.app_id
CROSS JOIN generate_series(0, 23) h
CROSS JOIN unnest(ARRAY['en-us', 'de', 'fr', 'pt-br', 'es', 'tr']) asked
CROSS JOIN (VALUES (1, 0, 0.97), (3, 203, 0.03)) o (outcome, reason, share)
CROSS JOIN LATERAL (SELECT greatest(1, round(0.05 * :jobs / (:apps * :days * 432) * o.share))::bigint AS n) size
WHERE r.standing;
INSERT INTO tally_latency (hour, run_id, route_id, n, kind, class)
SELECT DISTINCT t.hour, t.run_id, t.route_id, 1000, kind, class
FROM tally t
CROSS JOIN generate_series(1, 2) kind
CROSS JOIN generate_series(20, 46, 2) class
WHERE t.outcome = 1 AND t.asked = 'de' AND t.variant = 0;
INSERT INTO tally_mark (shard, folded_until) VALUES (0, now()) ON CONFLICT (shard) DO UPDATE SET folded_until = now();

INSERT INTO run_total (
    run_id, targeted, delivered, failed, unregistered, expired, cancelled, skipped, in_doubt, repeat_bound, audited_at,
    audit_problems
)
SELECT r.id, sum(t.n), sum(t.n) FILTER (WHERE t.outcome = 1), coalesce(sum(t.n) FILTER (WHERE t.outcome = 2), 0),
    sum(t.n) FILTER (WHERE t.outcome = 3), 0, 0, coalesce(sum(t.n) FILTER (WHERE t.outcome = 6), 0), 0, 0, now(), 0
FROM run r JOIN tally t ON t.run_id = r.id
WHERE r.closed_at IS NOT NULL
GROUP BY r.id;

-- Hourly counts of a week, and one a day before that.
INSERT INTO token_tally (counted_at, app_id, transport, state, registered_month, seen_days, n)
SELECT counted.at, app.id, transport, 1 + state, date '2024-01-01' + month * interval '1 month', seen, 500
FROM (
    SELECT date_trunc('hour', now()) - g * interval '1 hour' AS at FROM generate_series(0, 167) g
    UNION ALL
    SELECT date_trunc('day', now(), 'UTC') - g * interval '1 day' FROM generate_series(8, 200 + :days) g
) counted
CROSS JOIN app
CROSS JOIN generate_series(1, 3) transport
CROSS JOIN generate_series(0, 3) state
CROSS JOIN generate_series(0, 23) month
CROSS JOIN unnest(ARRAY[-1, 1, 7, 30, 270]) seen
WHERE state = 0 OR month % 6 = 0;
INSERT INTO answer_minute (credential_id, at_minute, worker_id, answers, gone, foreign_to_us)
SELECT c.id, date_trunc('minute', now()) - g * interval '1 min', '5f3c0d64-6a3a-4d1b-9d0f-0c8d3a2b1e00', 900, 9, 0
FROM credential c CROSS JOIN generate_series(1, 2880) g;

-- What waits and is being sent: ten million jobs of the open runs, the first half of them done.
INSERT INTO worker (id, lease_until) SELECT md5('worker' || g)::uuid, now() + interval '1 hour' FROM generate_series(1, 20) g;
INSERT INTO run_progress (shard, run_id, targeted, expanded)
SELECT 0, r.id, CASE WHEN r.standing THEN 0 ELSE 250000 END, true FROM run r WHERE r.closed_at IS NULL;
INSERT INTO batch (
    shard, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, bucket_id, size,
    content_version, state, origin, holder, marked, moved, delivered
)
SELECT 0, r.id, route.id, g * 500, r.due_at, now() + interval '1 day', 1 + g * 400 % :subscribers,
    400 + g * 400 % :subscribers, 1, 500, 1, s.state, 0,
    CASE WHEN s.state IN (1, 2) THEN md5('worker' || 1 + g % 20)::uuid END,
    repeat(CASE WHEN s.state = 2 THEN '1' ELSE '0' END, 500)::varbit, CASE WHEN s.state = 2 THEN s.moved ELSE 0 END,
    CASE WHEN s.state = 2 THEN 500 - s.moved ELSE 0 END
FROM run r
JOIN route ON route.app_id = r.app_id AND route.transport = 2
CROSS JOIN generate_series(0, 499) g
CROSS JOIN LATERAL (
    SELECT CASE WHEN g < 250 THEN 2 WHEN g < 252 THEN 1 ELSE 0 END AS state,
        CASE WHEN r.id = (SELECT min(o.id) FROM run o WHERE o.closed_at IS NULL) THEN 200 ELSE 0 END AS moved
) s
WHERE r.closed_at IS NULL AND NOT r.standing;

INSERT INTO subscriber (shard, id, app_id, transport, address, external_id, user_id, registered_at, seen_at, language)
OVERRIDING SYSTEM VALUE
SELECT 0, g, 1 + g % :apps, 2, md5(g::text), 's-' || g, 'u-' || g / 2, now() - interval '90 days', now(), 'de'
FROM generate_series(1, :subscribers) g;
SELECT ensure_day('delivery', current_date - g), ensure_day('attempt', current_date - g) FROM generate_series(0, 7) g \g /dev/null
INSERT INTO delivery (
    shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version, at, sent_at, answer_ms, status,
    provider_id, language
)
SELECT 0, r.id, g, 1 + g % :subscribers, g / 500, g % 500, 1, 1, 1, day + g % 86400 * interval '1 s', day, 80, 200,
    'projects/demo/messages/' || g, 'de'
FROM generate_series(date_trunc('day', now(), 'UTC') - interval '7 days', now() - interval '1 day', interval '1 day') day
CROSS JOIN generate_series(1, :a_day) g
JOIN (SELECT id, app_id, row_number() OVER (PARTITION BY app_id ORDER BY id DESC) AS place FROM run WHERE NOT standing) r
    ON r.app_id = 1 + (1 + g % :subscribers) % :apps AND r.place = 1 + g % 10;
INSERT INTO attempt (shard, run_id, number, subscriber_id, batch_id, attempts, status, reason, doubtful, at)
SELECT d.shard, d.run_id, d.number, d.subscriber_id, d.batch_id, 1, 503, 211, false, d.at FROM delivery d WHERE d.number % 20 = 0;
INSERT INTO retry (shard, run_id, number, subscriber_id, route_id, due_at, expires_at, content_version, attempts, doubtful)
SELECT 0, r.id, g, 1 + g % :subscribers, 1, now() + g % 600 * interval '1 s', now() + interval '1 day', 1, 1, false
FROM (SELECT min(id) AS id FROM run WHERE closed_at IS NULL AND NOT standing) r
CROSS JOIN generate_series(1, 50000) g;
RESET search_path;
VACUUM ANALYZE;

-- why: how often a user may be disturbed and when: frequency caps, quiet hours, and who went past them
-- locks: app, campaign and run, exclusively, for a moment: columns without a rewrite; an index of notification_sibling
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.app
    ADD COLUMN cap_most int,
    ADD COLUMN cap_window interval,
    ADD COLUMN quiet_from time,
    ADD COLUMN quiet_until time,
    ADD COLUMN quiet_policy smallint NOT NULL DEFAULT 0,
    ADD CONSTRAINT app_cap CHECK (
        (cap_most IS NULL) = (cap_window IS NULL)
        AND cap_most BETWEEN 1 AND 1000
        AND cap_window BETWEEN interval '1 min' AND interval '31 days'
    ),
    ADD CONSTRAINT app_quiet_hours CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND quiet_from <> quiet_until),
    ADD CONSTRAINT app_quiet_policy CHECK (quiet_policy IN (0, 1));
COMMENT ON COLUMN pushfleet.app.cap_most IS
    'No user gets more than this many within cap_window, across campaigns and devices. NULL = no cap.';
COMMENT ON COLUMN pushfleet.app.quiet_from IS
    'From this wall time in the subscriber''s zone until quiet_until nothing is sent; over midnight if that is earlier.';
COMMENT ON COLUMN pushfleet.app.quiet_policy IS 'What would come in quiet hours: 0 defer to their end, 1 skip';

ALTER TABLE pushfleet.run
    ADD COLUMN exempt smallint NOT NULL DEFAULT 0,
    ADD COLUMN quiet_policy smallint,
    ADD CONSTRAINT run_exempt CHECK (exempt BETWEEN 0 AND 3),
    ADD CONSTRAINT run_quiet_policy CHECK (quiet_policy IN (0, 1));
COMMENT ON COLUMN pushfleet.run.exempt IS
    'Bits: 1 no frequency cap holds, 2 no quiet hours do: it bypasses them, is a test, shows nothing, or goes to a topic. '
    'Of a standing run each message says so itself.';
COMMENT ON COLUMN pushfleet.run.quiet_policy IS 'As app.quiet_policy, for this run; NULL = as the app says.';

-- A row for each user that a cap counted. Not led by shard: a user's devices lie in several.
CREATE TABLE pushfleet.frequency (
    app_id bigint NOT NULL,
    user_key text COLLATE "C" NOT NULL,
    hits bigint[] NOT NULL,
    hit_at timestamptz[] NOT NULL,
    PRIMARY KEY (app_id, user_key),
    CONSTRAINT frequency_pairs CHECK (cardinality(hits) = cardinality(hit_at))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE pushfleet.frequency IS
    'What was reserved for each user under a cap. Its rows are locked in the order of the key, in a statement that locks '
    'nothing else.';
COMMENT ON COLUMN pushfleet.frequency.user_key IS 'u: and the user_id, or s: and the id of a subscriber without one.';
COMMENT ON COLUMN pushfleet.frequency.hits IS
    'The run; of a single notification its id, negative. One for all of the user''s devices and all attempts.';
COMMENT ON COLUMN pushfleet.frequency.hit_at IS
    'When each of hits was reserved last. -infinity = it was refused when the row was made.';

-- Which of a user's notifications is the first device's: one hit for all of them.
CREATE INDEX notification_sibling_by_sibling ON pushfleet.notification_sibling (sibling_id);

ALTER TABLE pushfleet.campaign ADD COLUMN caller name;
ALTER TABLE pushfleet.campaign ALTER COLUMN caller SET DEFAULT session_user;
COMMENT ON COLUMN pushfleet.campaign.caller IS 'The role that made it; NULL = made before this was kept.';

-- Every message that asked to go past a cap or quiet hours: what it said why, and whose it was.
CREATE TABLE pushfleet.bypass (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    app_id bigint NOT NULL,
    campaign_id bigint,
    run_id bigint,
    content_version bigint NOT NULL,
    rules smallint NOT NULL,
    reason text NOT NULL,
    caller name NOT NULL DEFAULT session_user,
    CONSTRAINT bypass_rules CHECK (rules BETWEEN 1 AND 3)
);
CREATE INDEX bypass_by_version ON pushfleet.bypass (content_version);
CREATE INDEX bypass_by_age ON pushfleet.bypass (at);
COMMENT ON TABLE pushfleet.bypass IS
    'A row for each content version, caller and reason. Single notifications that say the same on one day share one.';
COMMENT ON COLUMN pushfleet.bypass.run_id IS 'The standing run of single notifications; NULL = a campaign''s.';
COMMENT ON COLUMN pushfleet.bypass.rules IS 'Bits: 1 frequency_cap, 2 quiet_hours';

INSERT INTO pushfleet.reason (code, name) VALUES (43, 'frequency_cap'), (44, 'quiet_hours');

-- When the quiet hours end in which an instant lies, in a zone or, if nobody knows that, in the fallback; NULL = in none.
-- They begin when the zone's clock first shows `quiet_from` and end when it first shows `quiet_until`, or would have: see
-- local_instant. So an hour that clocks show twice ends them once.
CREATE FUNCTION pushfleet.quiet_end(
    instant timestamptz, zone text, fallback text, quiet_from time, quiet_until time
) RETURNS timestamptz
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
SET timezone = 'UTC'
AS $$
DECLARE
    known text := coalesce((SELECT z.name FROM pushfleet.time_zone z WHERE z.key = lower(zone)), fallback);
    shown date;
    ends timestamptz;
BEGIN
    IF quiet_from IS NULL OR instant IS NULL OR NOT isfinite(instant) THEN
        RETURN NULL;
    END IF;
    BEGIN
        shown := pushfleet.local_time(instant, known)::date;
    EXCEPTION WHEN invalid_parameter_value THEN
        known := fallback;
        shown := pushfleet.local_time(instant, known)::date;
    END;
    -- The day before for those over midnight, the day after for clocks that go back over it.
    FOR ahead IN -1 .. 1 LOOP
        IF pushfleet.local_instant(shown + ahead + quiet_from, known) <= instant THEN
            ends := pushfleet.local_instant(
                shown + ahead + CASE WHEN quiet_until > quiet_from THEN 0 ELSE 1 END + quiet_until, known);
            IF instant < ends THEN
                RETURN ends;
            END IF;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

-- Which rules do not hold for a message as it was stored: run.exempt. What shows nothing disturbs nobody.
CREATE FUNCTION pushfleet.exempt_rules(message jsonb, delivery jsonb) RETURNS smallint
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
        WHEN message -> 'silent' = 'true' THEN 3
        ELSE coalesce(delivery #> '{bypass,rules}' ? 'frequency_cap', false)::int
            + coalesce(delivery #> '{bypass,rules}' ? 'quiet_hours', false)::int * 2
    END::smallint
$$;

-- Forgets users whose hits are all over, of at most so many after a place in the order of keys, and old bypasses; where to
-- go on, NULL at the end. Without a cap hits are kept for the longest window, should it come back.
CREATE FUNCTION pushfleet.forget_frequencies(after_app bigint, after_user text, at_most int)
RETURNS TABLE (next_app bigint, next_user text, forgotten int)
LANGUAGE sql
SECURITY DEFINER
SET search_path = pushfleet, pg_temp
AS $$
    WITH page AS MATERIALIZED (
        SELECT f.app_id, f.user_key
        FROM pushfleet.frequency f
        WHERE (f.app_id, f.user_key) > (after_app, after_user)
        ORDER BY f.app_id, f.user_key
        LIMIT at_most
    ),
    gone AS (
        -- Looks at the row as it is once it is locked.
        DELETE FROM pushfleet.frequency f
        USING page
        LEFT JOIN pushfleet.app ON app.id = page.app_id
        WHERE f.app_id = page.app_id
            AND f.user_key = page.user_key
            AND NOT EXISTS (
                SELECT
                FROM unnest(f.hit_at) AS hit (at)
                WHERE hit.at > now() - coalesce(app.cap_window, interval '31 days')
            )
        RETURNING 1
    ),
    old AS (
        DELETE FROM pushfleet.bypass
        WHERE bypass.at < now() - (SELECT r.keep FROM pushfleet.retention r WHERE r.what = 'tally')
    ),
    last AS (
        SELECT page.app_id, page.user_key
        FROM page
        WHERE (SELECT count(*) FROM page) = at_most
        ORDER BY page.app_id DESC, page.user_key DESC
        LIMIT 1
    )
    SELECT last.app_id, last.user_key, (SELECT count(*)::int FROM gone)
    FROM (VALUES (1)) one
    LEFT JOIN last ON true
$$;

REVOKE ALL ON FUNCTION pushfleet.quiet_end, pushfleet.exempt_rules, pushfleet.forget_frequencies FROM PUBLIC;
-- A worker learns whose a device is: it counts for all of them.
GRANT SELECT (standing, exempt, quiet_policy) ON pushfleet.run TO pushfleet_worker;
GRANT SELECT (user_id, time_zone) ON pushfleet.subscriber TO pushfleet_worker;
GRANT SELECT (notification_id, sibling_id) ON pushfleet.notification_sibling TO pushfleet_worker;
GRANT SELECT, INSERT, UPDATE (hits, hit_at) ON pushfleet.frequency TO pushfleet_worker;
GRANT SELECT (app_id, user_key, hit_at) ON pushfleet.frequency TO pushfleet_scheduler;
GRANT INSERT ON pushfleet.bypass TO pushfleet_scheduler;
GRANT EXECUTE ON FUNCTION pushfleet.quiet_end, pushfleet.exempt_rules TO pushfleet_worker, pushfleet_scheduler;
GRANT EXECUTE ON FUNCTION pushfleet.forget_frequencies TO pushfleet_janitor;

-- why: rates of app, route and run hold for the whole fleet; a route slows down, ramps up and trips for all workers
-- locks: app, route and rate_second exclusively, for as long as their definitions change
-- safe with workers running: yes
-- lowest binary: 1

ALTER TABLE pushfleet.app
    ADD COLUMN rate int,
    ADD CONSTRAINT app_rate CHECK (rate > 0);
COMMENT ON COLUMN pushfleet.app.rate IS 'Requests a second through all of its routes together; NULL = no limit.';

ALTER TABLE pushfleet.route
    ADD COLUMN ramp interval NOT NULL DEFAULT '60 s',
    ADD COLUMN ramp_since timestamptz,
    ADD COLUMN slowed_at timestamptz,
    ADD COLUMN trips smallint NOT NULL DEFAULT 0,
    ADD COLUMN reopen_at timestamptz;
COMMENT ON COLUMN pushfleet.route.ramp IS 'From its first request after a silence to its full rate, above 1,000 a second.';
COMMENT ON COLUMN pushfleet.route.slowed_at IS 'When its slow_rate was last lowered.';
COMMENT ON COLUMN pushfleet.route.trips IS
    'Times in a row that its breaker opened; above 0 and open: it is on trial, at a trickle.';
COMMENT ON COLUMN pushfleet.route.reopen_at IS 'When an open breaker lets the next trial begin; NULL = no breaker.';

-- A second has twenty slices of 50 ms. A slot belongs to a slice and dies with it, so that one job can hold slots of its
-- run, its route and its app that are good at the same instant.
ALTER TABLE pushfleet.rate_second
    ADD COLUMN slices int[] NOT NULL DEFAULT array_fill(0, ARRAY[20]),
    ADD COLUMN campaign_slices int[] NOT NULL DEFAULT array_fill(0, ARRAY[20]);
COMMENT ON COLUMN pushfleet.rate_second.slices IS 'Slots taken of each slice; taken is their sum.';
COMMENT ON COLUMN pushfleet.rate_second.campaign_slices IS 'Those of them that campaigns took.';

-- What a route may begin in a second at that instant; NULL = no limit.
-- After slow_until the slow rate doubles every 5 s, until it meets the route's own or has grown for 100 s.
CREATE FUNCTION pushfleet.route_rate(
    rate int, ramp interval, ramp_since timestamptz, slow_rate int, slow_until timestamptz, at timestamptz
) RETURNS int
LANGUAGE sql IMMUTABLE
AS $$
    SELECT least(
        CASE
            WHEN rate <= 1000 OR ramp_since IS NULL OR at - ramp_since >= ramp THEN rate
            ELSE greatest(
                1000, rate / 10,
                floor(rate * (extract(epoch FROM at - ramp_since) / extract(epoch FROM ramp)))::int)
        END,
        CASE
            WHEN slow_rate IS NULL OR at - slow_until > interval '100 s' THEN NULL
            WHEN at <= slow_until THEN slow_rate
            ELSE least(1000000, slow_rate * 2 ^ (extract(epoch FROM at - slow_until) / 5))::int
        END
    )
$$;

-- Takes up to `wanted` slots for requests of a run on a route, of the slices that begin before at + ahead.
-- One row for each slice: when it begins, and how many requests may be begun within its 50 ms. A row without an instant:
-- no rate holds for them. No row: the seconds in reach are full.
--
-- In any second at most rate + 5 % + 1 are begun: it meets at most 21 slices, and those of a rate r hold r / 20 each.
-- What is not taken dies with its slice, so that no pause and no outage is made good. Campaigns take at most nine tenths
-- of what an app or a route may send; the rest is the transactional lane's.
CREATE FUNCTION pushfleet.take_slots(
    of_run bigint, of_route bigint, wanted int, ahead interval, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (begins_at timestamptz, slots int)
LANGUAGE plpgsql
SET search_path = pushfleet, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    keys text[];
    rates int[];
    are_shared boolean[];
    is_campaign boolean;
    missing int := wanted;
    allowed int;
    given int[];
    this_second timestamptz := date_trunc('second', at);
BEGIN
    -- A route that was silent for a minute starts from below.
    UPDATE route
    SET ramp_since = at
    WHERE route.id = of_route
        AND route.rate > 1000
        AND (route.ramp_since IS NULL OR at - route.ramp_since > greatest(route.ramp, interval '60 s'))
        AND NOT EXISTS (
            SELECT FROM rate_second r
            WHERE r.key = 'route:' || of_route AND r.at_second > at - interval '60 s'
        );

    SELECT array_agg(l.key ORDER BY l.key), array_agg(l.rate ORDER BY l.key), array_agg(l.is_shared ORDER BY l.key),
        bool_and(run.lane = 1)
    INTO keys, rates, are_shared, is_campaign
    FROM run
    JOIN route ON route.id = of_route
    JOIN app ON app.id = run.app_id
    CROSS JOIN LATERAL (
        VALUES
            ('run:' || run.id, run.rate, false),
            (
                'route:' || route.id,
                route_rate(route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, at),
                true
            ),
            ('app:' || app.id, app.rate, true)
    ) AS l (key, rate, is_shared)
    WHERE run.id = of_run AND l.rate IS NOT NULL;
    IF keys IS NULL THEN
        RETURN QUERY SELECT NULL::timestamptz, wanted;
        RETURN;
    END IF;

    WHILE this_second < at + ahead AND missing > 0 LOOP
        -- In the order of keys, as everybody locks them.
        INSERT INTO rate_second (key, at_second, taken, granted)
        SELECT k.key, this_second, 0, 0
        FROM unnest(keys) AS k (key)
        ORDER BY k.key
        ON CONFLICT (key, at_second) DO NOTHING;
        PERFORM FROM rate_second r
        WHERE r.key = ANY (keys) AND r.at_second = this_second
        ORDER BY r.key
        FOR UPDATE;

        -- Below 200 a second a slice has no whole tenth to keep: there the second as a whole keeps it.
        SELECT least(missing, min(greatest(1, l.rate * 9 / 10) - taken_by.campaigns))
        INTO allowed
        FROM unnest(keys, rates, are_shared) AS l (key, rate, is_shared)
        JOIN rate_second r ON r.key = l.key AND r.at_second = this_second
        CROSS JOIN LATERAL (SELECT sum(c.n)::int AS campaigns FROM unnest(r.campaign_slices) AS c (n)) taken_by
        WHERE is_campaign AND l.is_shared AND l.rate < 200;

        WITH free AS (
            SELECT s.slice,
                min(greatest(0, least(
                    ((s.slice + 1) * l.rate) / 20 - (s.slice * l.rate) / 20 - r.slices[s.slice + 1],
                    CASE WHEN is_campaign AND l.is_shared AND l.rate >= 200 THEN
                        ((s.slice + 1) * (l.rate * 9 / 10)) / 20 - (s.slice * (l.rate * 9 / 10)) / 20
                        - r.campaign_slices[s.slice + 1]
                    END
                ))) AS n
            FROM generate_series(0, 19) AS s (slice)
            CROSS JOIN unnest(keys, rates, are_shared) AS l (key, rate, is_shared)
            JOIN rate_second r ON r.key = l.key AND r.at_second = this_second
            GROUP BY s.slice
        ),
        open AS (
            SELECT f.slice,
                CASE
                    WHEN this_second + f.slice * interval '50 ms' > at - interval '30 ms'
                        AND this_second + f.slice * interval '50 ms' < at + ahead
                    THEN f.n
                    ELSE 0
                END AS n
            FROM free f
        ),
        share AS (
            SELECT o.slice, o.n, (sum(o.n) OVER (ORDER BY o.slice) - o.n)::int AS before
            FROM open o
        )
        SELECT array_agg(greatest(0, least(share.n, coalesce(allowed, missing) - share.before)) ORDER BY share.slice)
        INTO given
        FROM share;

        UPDATE rate_second r
        SET taken = r.taken + total.n,
            granted = total.n,
            slices = (
                SELECT array_agg(old.n + new.n ORDER BY old.slice)
                FROM unnest(r.slices) WITH ORDINALITY AS old (n, slice)
                JOIN unnest(given) WITH ORDINALITY AS new (n, slice) USING (slice)
            ),
            campaign_slices = CASE WHEN is_campaign THEN (
                SELECT array_agg(old.n + new.n ORDER BY old.slice)
                FROM unnest(r.campaign_slices) WITH ORDINALITY AS old (n, slice)
                JOIN unnest(given) WITH ORDINALITY AS new (n, slice) USING (slice)
            ) ELSE r.campaign_slices END
        FROM (SELECT sum(g.n)::int AS n FROM unnest(given) AS g (n)) total
        WHERE r.key = ANY (keys) AND r.at_second = this_second AND total.n > 0;

        RETURN QUERY
        SELECT this_second + (g.slice - 1) * interval '50 ms', g.n
        FROM unnest(given) WITH ORDINALITY AS g (n, slice)
        WHERE g.n > 0
        ORDER BY g.slice;
        missing := missing - (SELECT sum(g.n)::int FROM unnest(given) AS g (n));
        this_second := this_second + interval '1 s';
    END LOOP;
END
$$;

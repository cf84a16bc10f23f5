import Domain
import Postgres

/// Counts an audience by what decides its fate, as the expansion decides it, without writing anything.
struct PlanStatement {
    var app: App.ID
    var predicate: PostgresFragment
    /// Wall time of a local schedule.
    var localAt: String?
    /// Where there is none; nil = now.
    var dueAt: Instant?
    /// When the expansion would begin.
    var begunAt: Instant?
    var policies: Schedule.Policies
    var bounds: [Double]?
    var onePerUser: Bool
    var disturbance: CampaignFile.Disturbance
    /// A silent push, which browsers do not get.
    var isSilent: Bool
    /// Per cent of the table's pages that are read; 100 = all.
    var share: Double

    private var isOlder: PostgresFragment {
        onePerUser ? .hasNewerDevice(predicate: predicate, asOf: "now()") : "false"
    }

    private func holds(_ rule: Bypass.Rule) -> Bool {
        !isSilent && disturbance.bypass?.rules.contains(rule) != true
    }

    var query: PostgresQuery {
        """
        WITH this AS MATERIALIZED (
            SELECT app.id AS app_id, app.shards,
                CASE \(policies.missingZone.code) WHEN 0 THEN app.time_zone END AS fallback_zone,
                \(localAt)::text::timestamp AS local_at, coalesce(\(dueAt?.timestamp), now()) AS due_at,
                coalesce(\(begunAt?.timestamp), now()) AS begun_at,
                CASE WHEN \(holds(.frequencyCap)) THEN app.cap_most END AS cap_most,
                greatest(\(begunAt?.timestamp), \(dueAt?.timestamp), now()) - app.cap_window AS cap_since,
                CASE WHEN \(holds(.quietHours)) THEN app.quiet_from END AS quiet_from, app.quiet_until,
                coalesce(\(disturbance.quietHours?.code), app.quiet_policy) AS quiet_policy, app.time_zone AS app_zone
            FROM pushfleet.app
            WHERE app.id = \(app.rawValue)
        ),
        picked AS MATERIALIZED (
            SELECT read.transport, read.service, read.is_out, read.is_older, read.is_full, read.time_zone, read.language,
                read.variant, count(*) AS n
            FROM (
                SELECT s.transport, s.service, s.state > 2 AS is_out, s.language,
                    CASE WHEN this.local_at IS NOT NULL OR this.quiet_from IS NOT NULL THEN s.time_zone END AS time_zone,
                    CASE WHEN \(bounds) IS NOT NULL THEN
                        width_bucket(pushfleet.test_place(0, s.user_id, s.id), \(bounds))
                    END AS variant,
                    \(isOlder) AS is_older,
                    -- What others took of the user's cap until now: what they take until it is due, nobody knows.
                    CASE WHEN this.cap_most IS NULL THEN false ELSE coalesce((
                        SELECT (
                            SELECT count(*) >= this.cap_most FROM unnest(f.hit_at) AS hit (at) WHERE hit.at > this.cap_since
                        )
                        FROM pushfleet.frequency f
                        WHERE f.app_id = this.app_id AND f.user_key = coalesce('u:' || s.user_id, 's:' || s.id)
                    ), false) END AS is_full
                FROM this
                JOIN pushfleet.subscriber s TABLESAMPLE SYSTEM (\(share))
                    ON s.shard = ANY (this.shards) AND s.app_id = this.app_id
                WHERE \(predicate)
            ) read
            GROUP BY read.transport, read.service, read.is_out, read.is_older, read.is_full, read.time_zone, read.language,
                read.variant
        ),
        zone AS MATERIALIZED (
            SELECT own.time_zone, own.due_at,
                CASE WHEN this.quiet_from IS NOT NULL THEN
                    pushfleet.quiet_end(
                        greatest(own.due_at, now()), own.time_zone, this.app_zone, this.quiet_from, this.quiet_until)
                END AS quiet_end
            FROM this
            CROSS JOIN LATERAL (
                SELECT known.time_zone,
                    CASE
                        WHEN this.local_at IS NULL THEN this.due_at
                        ELSE pushfleet.wave_at(
                            this.local_at, known.time_zone, this.fallback_zone, \(policies.pastLocal.code), this.begun_at)
                    END AS due_at
                FROM (SELECT DISTINCT picked.time_zone FROM picked) known
                OFFSET 0
            ) own
        )
        SELECT picked.transport, coalesce(route.id, 0), route.rate, picked.language,
            CASE
                WHEN picked.is_out THEN 1
                WHEN \(isSilent) AND picked.transport = 3 THEN 7
                WHEN route.id IS NULL THEN 2
                WHEN zone.due_at IS NULL THEN 41
                WHEN zone.due_at = '-infinity' THEN 42
                WHEN zone.quiet_end IS NOT NULL AND this.quiet_policy = 1 THEN 44
                WHEN picked.is_older THEN 45
                WHEN picked.variant = 0 THEN 40
                WHEN picked.is_full THEN 43
                ELSE 0
            END::smallint AS skip,
            coalesce(picked.variant, 0)::int,
            CASE
                WHEN NOT coalesce(isfinite(zone.due_at), false) THEN this.due_at
                WHEN this.quiet_policy = 0 THEN coalesce(zone.quiet_end, zone.due_at)
                ELSE zone.due_at
            END,
            sum(picked.n)::bigint, zone.quiet_end IS NOT NULL AND this.quiet_policy = 0
        FROM picked
        CROSS JOIN this
        JOIN zone ON zone.time_zone IS NOT DISTINCT FROM picked.time_zone
        LEFT JOIN pushfleet.route
            ON route.app_id = this.app_id
            AND route.transport = picked.transport
            AND route.service = picked.service
            AND route.state <> 2
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 9
        """
    }
}

extension PostgresQuery {
    /// Rows of the table of subscribers, as the planner thinks; before it was ever analysed, by its size.
    static let subscriberEstimate: PostgresQuery = """
        SELECT CASE WHEN reltuples >= 0 THEN reltuples ELSE pg_relation_size(oid) / 200 END::bigint
        FROM pg_catalog.pg_class
        WHERE oid = 'pushfleet.subscriber'::regclass
        """
}

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
    /// A silent push, which browsers do not get.
    var isSilent: Bool
    /// Per cent of the table's pages that are read; 100 = all.
    var share: Double

    private var isOlder: PostgresFragment {
        onePerUser ? .hasNewerDevice(predicate: predicate, asOf: "now()") : "false"
    }

    var query: PostgresQuery {
        """
        WITH this AS MATERIALIZED (
            SELECT app.id AS app_id, app.shards,
                CASE \(policies.missingZone.code) WHEN 0 THEN app.time_zone END AS fallback_zone,
                \(localAt)::text::timestamp AS local_at, coalesce(\(dueAt?.timestamp), now()) AS due_at,
                coalesce(\(begunAt?.timestamp), now()) AS begun_at
            FROM pushfleet.app
            WHERE app.id = \(app.rawValue)
        ),
        picked AS MATERIALIZED (
            SELECT read.transport, read.service, read.is_out, read.is_older, read.time_zone, read.language, read.variant,
                count(*) AS n
            FROM (
                SELECT s.transport, s.service, s.state > 2 AS is_out, s.language,
                    CASE WHEN this.local_at IS NOT NULL THEN s.time_zone END AS time_zone,
                    CASE WHEN \(bounds) IS NOT NULL THEN
                        width_bucket(pushfleet.test_place(0, s.user_id, s.id), \(bounds))
                    END AS variant,
                    \(isOlder) AS is_older
                FROM this
                JOIN pushfleet.subscriber s TABLESAMPLE SYSTEM (\(share))
                    ON s.shard = ANY (this.shards) AND s.app_id = this.app_id
                WHERE \(predicate)
            ) read
            GROUP BY read.transport, read.service, read.is_out, read.is_older, read.time_zone, read.language, read.variant
        ),
        zone AS MATERIALIZED (
            SELECT own.time_zone,
                CASE
                    WHEN this.local_at IS NULL THEN this.due_at
                    ELSE pushfleet.wave_at(
                        this.local_at, own.time_zone, this.fallback_zone, \(policies.pastLocal.code), this.begun_at)
                END AS due_at
            FROM (SELECT DISTINCT picked.time_zone FROM picked) own
            CROSS JOIN this
        )
        SELECT picked.transport, coalesce(route.id, 0), route.rate, picked.language,
            CASE
                WHEN picked.is_out THEN 1
                WHEN \(isSilent) AND picked.transport = 3 THEN 7
                WHEN route.id IS NULL THEN 2
                WHEN zone.due_at IS NULL THEN 41
                WHEN zone.due_at = '-infinity' THEN 42
                WHEN picked.is_older THEN 45
                WHEN picked.variant = 0 THEN 40
                ELSE 0
            END::smallint AS skip,
            coalesce(picked.variant, 0)::int,
            CASE WHEN isfinite(zone.due_at) THEN zone.due_at ELSE this.due_at END,
            sum(picked.n)::bigint
        FROM picked
        CROSS JOIN this
        JOIN zone ON zone.time_zone IS NOT DISTINCT FROM picked.time_zone
        LEFT JOIN pushfleet.route
            ON route.app_id = this.app_id
            AND route.transport = picked.transport
            AND route.service = picked.service
            AND route.state <> 2
        GROUP BY 1, 2, 3, 4, 5, 6, 7
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

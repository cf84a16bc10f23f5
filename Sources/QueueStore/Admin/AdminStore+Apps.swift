import Domain
import Postgres

package struct AppSummary: Codable, Sendable, Equatable {
    package let id: Int64
    package let name: String
    package let timeZone: String
    /// Those that can be sent to.
    package let subscribers: Int64
}

extension AdminStore {
    /// Creates an app; one of that name is left as it is.
    package func createApp(name: String, timeZone: String = "UTC") async throws -> AppSummary {
        try await client.withTransaction { connection in
            _ = try await connection.query(.insertApp(name: name, timeZone: timeZone))
            _ = try await connection.query(.insertLaneClocks(app: name))
            return AppSummary(try await connection.query(.app(named: name), deadline: .seconds(60))[0])
        }
    }

    package func apps() async throws -> [AppSummary] {
        try await client.query(.apps, deadline: .seconds(60)).map { AppSummary($0) }
    }
}

extension AppSummary {
    fileprivate init(_ row: PostgresRow) {
        self.init(id: row.int64(0), name: row.string(1), timeZone: row.string(2), subscribers: row.int64(3))
    }
}

extension PostgresQuery {
    /// The zone is tried, so that one which PostgreSQL does not know is refused here and not while a run expands.
    static func insertApp(name: String, timeZone: String) -> PostgresQuery {
        """
        INSERT INTO pushfleet.app (name, time_zone)
        SELECT \(name), \(timeZone)
        WHERE now() AT TIME ZONE \(timeZone) IS NOT NULL
        ON CONFLICT (name) DO NOTHING
        """
    }

    static func insertLaneClocks(app name: String) -> PostgresQuery {
        """
        INSERT INTO pushfleet.lane_clock (shard, lane)
        SELECT shard.shard, lane.lane
        FROM pushfleet.app
        CROSS JOIN LATERAL unnest(app.shards) AS shard (shard)
        CROSS JOIN (VALUES (0), (1)) AS lane (lane)
        WHERE app.name = \(name)
        ON CONFLICT (shard, lane) DO NOTHING
        """
    }

    static func app(named name: String) -> PostgresQuery {
        """
        SELECT app.id, app.name, app.time_zone, count(s.id)
        FROM pushfleet.app
        LEFT JOIN pushfleet.subscriber s
            ON s.shard = ANY (app.shards) AND s.app_id = app.id AND s.state IN (1, 2)
        WHERE app.name = \(name)
        GROUP BY app.id
        """
    }

    static let apps: PostgresQuery = """
        SELECT app.id, app.name, app.time_zone, coalesce(counted.n, 0)
        FROM pushfleet.app
        LEFT JOIN (
            SELECT s.app_id, count(*) AS n FROM pushfleet.subscriber s WHERE s.state IN (1, 2) GROUP BY s.app_id
        ) counted ON counted.app_id = app.id
        ORDER BY app.name
        """
}

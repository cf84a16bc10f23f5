import Domain
import Postgres

package struct AppRecord: Sendable, Encodable {
    package let id: Int64
    package let name: String
    package let timeZone: String
    /// Active ones, as the planner's statistics and an index count them.
    package let subscribers: Int64
    package let limits: LimitRecord
}

extension AdminStore {
    /// Creates an app; one of that name is left as it is.
    package func createApp(name: String, timeZone: String) async throws -> AppRecord {
        let known = try await client.query(
            "SELECT 1 FROM pg_catalog.pg_timezone_names WHERE name = \(timeZone)")
        guard !known.isEmpty else {
            throw AdminError("time-zone: '\(timeZone)' is no IANA zone; use one such as Europe/Lisbon")
        }
        _ = try await client.query(
            """
            WITH app AS (
                INSERT INTO pushfleet.app (name, time_zone)
                VALUES (\(name), \(timeZone))
                ON CONFLICT (name) DO NOTHING
                RETURNING shards
            )
            INSERT INTO pushfleet.lane_clock (shard, lane)
            SELECT shard, lane
            FROM app CROSS JOIN unnest(app.shards) AS shard CROSS JOIN (VALUES (0), (1)) lanes (lane)
            ON CONFLICT (shard, lane) DO NOTHING
            """)
        guard let app = try await apps().first(where: { $0.name == name }) else {
            throw AdminError("app: '\(name)' was deleted meanwhile; try again")
        }
        return app
    }

    package func apps() async throws -> [AppRecord] {
        let rows = try await client.query(
            """
            SELECT app.id, app.name, app.time_zone, coalesce(active.n, 0)::bigint
            FROM pushfleet.app
            LEFT JOIN LATERAL (
                SELECT count(*) AS n
                FROM pushfleet.subscriber s
                WHERE s.shard = ANY (app.shards) AND s.app_id = app.id AND s.state IN (1, 2)
            ) active ON true
            ORDER BY app.name
            """, deadline: .seconds(60))
        let limits = try await limits(of: rows.map { App.ID($0.int64(0)) })
        return rows.compactMap { row in
            limits[App.ID(row.int64(0))].map {
                AppRecord(
                    id: row.int64(0), name: row.string(1), timeZone: row.string(2), subscribers: row.int64(3),
                    limits: $0)
            }
        }
    }
}

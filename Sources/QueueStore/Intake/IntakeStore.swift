import Domain
import FoundationEssentials
import Postgres

/// Who an app's SDK is.
package struct IntakeKey: Sendable, Equatable {
    package let id: Int64
    package let app: Int64
    package let appName: String

    package init(id: Int64, app: Int64, appName: String) {
        self.id = id
        self.app = app
        self.appName = appName
    }
}

/// What the HTTP intake asks of the database. Every call is one statement.
package struct IntakeStore: Sendable {
    package enum Registered: Sendable, Equatable {
        case added, refreshed
        case refused(RefusedLine)
    }

    package enum Recorded: Int64, Sendable { case counted = 0, repeated, unknownRun }

    let client: PostgresClient
    package init(_ client: PostgresClient) { self.client = client }

    /// - Parameter hash: SHA-256 of the key.
    /// - Returns: nil for a key that is unknown or revoked.
    package func key(hash: [UInt8]) async throws(PostgresError) -> IntakeKey? {
        let rows = try await client.query(
            """
            SELECT key.id, app.id, app.name
            FROM pushfleet.intake_key key
            JOIN pushfleet.app ON app.id = key.app_id
            WHERE key.hash = \(hash) AND key.revoked_at IS NULL
            """, deadline: .seconds(5))
        return rows.first.map { IntakeKey(id: $0.int64(0), app: $0.int64(1), appName: $0.string(2)) }
    }

    /// Registers an installation or refreshes it, by the rules of an import: a changed address, or a registration later
    /// than what was said against the old one, revives it.
    package func register(
        _ subscriber: ImportedSubscriber, app: Int64
    ) async throws(PostgresError) -> Registered {
        do {
            let row = try await client.query(
                .mergeSubscribers(app: app, staged: .one(subscriber), transactions: [], isSeen: true),
                deadline: .seconds(5))[0]
            return row.int64(1) > 0 ? .added : .refreshed
        } catch {
            guard error.concernsValues else { throw error }
            return .refused(.unstorable(subscriber.line, code: error.sqlState ?? "-"))
        }
    }

    /// Erases an installation: jobs that wait for it are skipped.
    /// - Returns: whether it was there.
    package func unregister(externalID: String, app: Int64) async throws(PostgresError) -> Bool {
        let rows = try await client.query(
            """
            DELETE FROM pushfleet.subscriber s
            USING pushfleet.app
            WHERE app.id = \(app) AND s.shard = ANY (app.shards) AND s.app_id = app.id
                AND s.external_id = \(externalID)
            RETURNING s.id
            """, deadline: .seconds(5))
        return !rows.isEmpty
    }

    /// Counts events, each once whatever is sent again within a day.
    /// - Returns: what became of each, in their order.
    package func record(_ events: [DeviceEvent], app: Int64) async throws(PostgresError) -> [Recorded] {
        let row = try await client.query(
            """
            SELECT pushfleet.record_events(
                \(app), \(events.map { PostgresUUID($0.id) }), \(events.map(\.run.rawValue)), \(events.map(\.number)),
                \(events.map(\.kind.rawValue)), \(events.map { $0.at?.timestamp }))::bigint[]
            """, deadline: .seconds(8))[0]
        return row.int64Array(0).map { Recorded(rawValue: $0) ?? .unknownRun }
    }

    /// Clears what is older than a day.
    /// - Returns: how many events; as many as `limit` = there may be more.
    package func forget(limit: Int32) async throws(PostgresError) -> Int64 {
        try await client.query("SELECT pushfleet.forget_events(\(limit))", deadline: .seconds(30))[0].int64(0)
    }
}

extension PostgresFragment {
    /// One row as `mergeSubscribers` takes it.
    fileprivate static func one(_ s: ImportedSubscriber) -> PostgresFragment {
        let environment: Int16 = s.environment.map { $0 == .production ? 1 : 2 } ?? 0
        let attributes = PostgresJSON(s.attributes)
        return """
            SELECT \(Int64(s.line)) AS line, \(s.externalID)::text COLLATE "C" AS external_id, \(s.userID) AS user_id,
                \(s.transport.rawValue) AS transport, \(s.address) AS address, \(environment) AS environment,
                \(s.p256dh.map { Data($0).base64EncodedString() }) AS p256dh,
                \(s.auth.map { Data($0).base64EncodedString() }) AS auth, \(s.language) AS language,
                \(s.timeZone) AS time_zone, \(attributes) AS attributes, \(s.tags) AS tags,
                \(s.registeredAt?.timestamp) AS registered_at, \(s.vapidKey) AS vapid_key
            """
    }
}

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

/// What the HTTP intake asks of the database: functions that run as its owner, and nothing else. Role
/// `pushfleet_intake` may call them.
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
            "SELECT key_id, app_id, app_name FROM pushfleet.intake_caller(\(hash))", deadline: .seconds(5))
        return rows.first.map { IntakeKey(id: $0.int64(0), app: $0.int64(1), appName: $0.string(2)) }
    }

    /// Registers an installation or refreshes it, by the rules of an import: a changed address, or a registration later
    /// than what was said against the old one, revives it.
    package func register(_ subscriber: ImportedSubscriber, app: Int64) async throws(PostgresError) -> Registered {
        do {
            let row = try await client.query(.register(subscriber, app: app), deadline: .seconds(5))[0]
            return row.bool(0) ? .added : .refreshed
        } catch {
            guard error.concernsValues else { throw error }
            return .refused(.unstorable(subscriber.line, code: error.sqlState ?? "-"))
        }
    }

    /// Erases an installation: jobs that wait for it are skipped.
    /// - Returns: whether it was there.
    package func unregister(externalID: String, app: Int64) async throws(PostgresError) -> Bool {
        try await client.query(
            "SELECT pushfleet.intake_unregister(\(app), \(externalID))", deadline: .seconds(5))[0].bool(0)
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

extension PostgresQuery {
    fileprivate static func register(_ s: ImportedSubscriber, app: Int64) -> PostgresQuery {
        let environment: Int16 = s.environment.map { $0 == .production ? 1 : 2 } ?? 0
        let p256dh = s.p256dh.map { Data($0).base64EncodedString() }
        let auth = s.auth.map { Data($0).base64EncodedString() }
        return """
            SELECT pushfleet.intake_register(
                \(app), \(s.externalID), \(s.userID), \(s.transport.rawValue), \(s.address), \(environment), \(p256dh),
                \(auth), \(s.language), \(s.timeZone), \(PostgresJSON(s.attributes)), \(s.tags),
                \(s.registeredAt?.timestamp), \(s.vapidKey))
            """
    }
}

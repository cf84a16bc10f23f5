import Domain
import Postgres

/// What changes of an app's cap and quiet hours; what is nil stays as it is.
package struct LimitChange: Sendable {
    package enum Setting<Value: Sendable>: Sendable {
        case none
        case value(Value)
    }

    package var frequencyCap: Setting<FrequencyCap>?
    package var quietHours: Setting<QuietHours>?
    package var inQuietHours: QuietHours.Policy?
    package init() {}
}

/// An app's cap and quiet hours, as commands write them.
package struct LimitRecord: Sendable, Encodable, Equatable {
    package let frequencyCap: String?
    package let quietHours: String?
    /// What becomes of what would come in them.
    package let inQuietHours: String
}

extension AdminStore {
    /// Changes an app's cap and quiet hours. Batches hold to them from their next claim on; those that wait already stay
    /// due when they are.
    package func setLimits(ofApp app: String, _ change: LimitChange) async throws -> LimitRecord {
        let id = try await appID(app)
        try await client.withTransaction { connection in
            for statement in PostgresQuery.changes(change, of: id) { _ = try await connection.query(statement) }
        }
        return try await limits(of: id)
    }

    func limits(of app: App.ID) async throws -> LimitRecord {
        guard let known = try await limits(of: [app])[app] else { throw AdminError("app: it was deleted meanwhile") }
        return known
    }

    func limits(of apps: [App.ID]) async throws -> [App.ID: LimitRecord] {
        let rows = try await client.query(
            """
            SELECT app.id, app.cap_most || '/' || CASE
                    WHEN span.minutes % 1440 = 0 THEN span.minutes / 1440 || 'd'
                    WHEN span.minutes % 60 = 0 THEN span.minutes / 60 || 'h'
                    ELSE span.minutes || 'm'
                END,
                to_char(app.quiet_from, 'HH24:MI-') || to_char(app.quiet_until, 'HH24:MI'), app.quiet_policy
            FROM pushfleet.app
            CROSS JOIN LATERAL (SELECT (extract(epoch FROM app.cap_window) / 60)::int AS minutes) span
            WHERE app.id = ANY (\(apps.map(\.rawValue)))
            """)
        var known: [App.ID: LimitRecord] = [:]
        for row in rows {
            let code = row.int16(3)
            guard let policy = QuietHours.Policy.allCases.first(where: { $0.code == code }) else {
                throw AdminError("app.quiet_policy: \(code) is unknown; this program is older than the database")
            }
            known[App.ID(row.int64(0))] = LimitRecord(
                frequencyCap: row.stringOrNil(1), quietHours: row.stringOrNil(2), inQuietHours: policy.rawValue)
        }
        return known
    }
}

extension PostgresQuery {
    fileprivate static func changes(_ change: LimitChange, of app: App.ID) -> [PostgresQuery] {
        var statements: [PostgresQuery] = []
        if let setting = change.frequencyCap {
            let cap: FrequencyCap? = if case .value(let cap) = setting { cap } else { nil }
            statements.append(
                """
                UPDATE pushfleet.app
                SET cap_most = \(cap.map { Int32($0.most) }), cap_window = \(cap.map { PostgresInterval($0.window) })
                WHERE id = \(app.rawValue)
                """)
        }
        if let setting = change.quietHours {
            let hours: QuietHours? = if case .value(let hours) = setting { hours } else { nil }
            statements.append(
                """
                UPDATE pushfleet.app
                SET quiet_from = \(hours?.from)::text::time, quiet_until = \(hours?.until)::text::time
                WHERE id = \(app.rawValue)
                """)
        }
        if let policy = change.inQuietHours {
            statements.append("UPDATE pushfleet.app SET quiet_policy = \(policy.code) WHERE id = \(app.rawValue)")
        }
        return statements
    }
}

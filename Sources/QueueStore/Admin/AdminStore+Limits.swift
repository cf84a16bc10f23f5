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
        if let setting = change.frequencyCap {
            let cap: FrequencyCap? = if case .value(let cap) = setting { cap } else { nil }
            _ = try await client.query(
                """
                UPDATE pushfleet.app
                SET cap_most = \(cap.map { Int32($0.most) }), cap_window = \(cap.map { PostgresInterval($0.window) })
                WHERE id = \(id.rawValue)
                """)
        }
        if let setting = change.quietHours {
            let hours: QuietHours? = if case .value(let hours) = setting { hours } else { nil }
            _ = try await client.query(
                """
                UPDATE pushfleet.app
                SET quiet_from = \(hours?.from)::text::time, quiet_until = \(hours?.until)::text::time
                WHERE id = \(id.rawValue)
                """)
        }
        if let policy = change.inQuietHours {
            _ = try await client.query(
                "UPDATE pushfleet.app SET quiet_policy = \(policy.code) WHERE id = \(id.rawValue)")
        }
        return try await limits(of: id)
    }

    func limits(of app: App.ID) async throws -> LimitRecord {
        let row = try await client.query(
            """
            SELECT app.cap_most || '/' || CASE
                    WHEN span.minutes % 1440 = 0 THEN span.minutes / 1440 || 'd'
                    WHEN span.minutes % 60 = 0 THEN span.minutes / 60 || 'h'
                    ELSE span.minutes || 'm'
                END,
                to_char(app.quiet_from, 'HH24:MI-') || to_char(app.quiet_until, 'HH24:MI'), app.quiet_policy
            FROM pushfleet.app
            CROSS JOIN LATERAL (SELECT (extract(epoch FROM app.cap_window) / 60)::int AS minutes) span
            WHERE app.id = \(app.rawValue)
            """)[0]
        let policy = QuietHours.Policy.allCases.first { $0.code == row.int16(2) } ?? .deferred
        return LimitRecord(
            frequencyCap: row.stringOrNil(0), quietHours: row.stringOrNil(1), inQuietHours: policy.rawValue)
    }
}

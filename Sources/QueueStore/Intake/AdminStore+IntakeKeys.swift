import Domain
import Postgres

package struct IntakeKeyRecord: Sendable, Encodable {
    package let id: Int64
    package let app: String
    /// The key's first characters.
    package let label: String
    package let createdAt: String
    /// nil = it is good.
    package let revokedAt: String?
}

extension AdminStore {
    /// - Parameters:
    ///   - hash: SHA-256 of the key, which itself is kept nowhere.
    ///   - label: its first characters.
    package func addIntakeKey(app: String, hash: [UInt8], label: String) async throws -> Int64 {
        let id = try await appID(app).rawValue
        return try await client.query(
            """
            INSERT INTO pushfleet.intake_key (app_id, hash, label)
            VALUES (\(id), \(hash), \(label))
            RETURNING id
            """)[0].int64(0)
    }

    package func intakeKeys(app: String) async throws -> [IntakeKeyRecord] {
        let id = try await appID(app).rawValue
        let rows = try await client.query(
            """
            SELECT id, label, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                to_char(revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM pushfleet.intake_key
            WHERE app_id = \(id)
            ORDER BY id
            """)
        return rows.map {
            IntakeKeyRecord(
                id: $0.int64(0), app: app, label: $0.string(1), createdAt: $0.string(2), revokedAt: $0.stringOrNil(3))
        }
    }

    /// - Throws: `AdminError` when the app has no such key that is good.
    package func revokeIntakeKey(app: String, id key: Int64) async throws {
        let id = try await appID(app).rawValue
        let rows = try await client.query(
            """
            UPDATE pushfleet.intake_key
            SET revoked_at = now()
            WHERE app_id = \(id) AND id = \(key) AND revoked_at IS NULL
            RETURNING id
            """)
        guard !rows.isEmpty else {
            throw AdminError("id: app '\(app)' has no key \(key) that is good; see: pushfleet app key list \(app)")
        }
    }
}

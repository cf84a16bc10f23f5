import Domain
import Postgres

/// One thing that is known of a subscriber and its notifications.
package struct StoryLine: Sendable, Encodable {
    /// ISO 8601; nil = about now.
    package let at: String?
    package let subscriber: Int64?
    package let run: Int64?
    package let campaign: String?
    package let what: String
    package let reason: String?
    /// JSON text.
    package let detail: String
}

extension AdminStore {
    /// - Parameter recipient: JSON as for notify().
    /// - Throws: `AdminError` for an unknown app or a malformed recipient.
    package func explain(app: String, recipient: String, run: Int64?) async throws -> [StoryLine] {
        do {
            let rows = try await client.query(
                """
                SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), subscriber_id, run_id, campaign,
                    what, reason, detail::text
                FROM pushfleet.explain(\(app), \(PostgresJSON(recipient)), \(run))
                """, deadline: .seconds(10))
            return rows.map {
                StoryLine(
                    at: $0.stringOrNil(0), subscriber: $0.int64OrNil(1), run: $0.int64OrNil(2),
                    campaign: $0.stringOrNil(3), what: $0.string(4), reason: $0.stringOrNil(5), detail: $0.string(6))
            }
        } catch {
            guard error.code == .raised else { throw error }
            throw AdminError(error.message)
        }
    }
}

import Domain
import Postgres

/// From an instant to another, as PostgreSQL reads and prints them.
package struct TokenWindow: Sendable, Encodable, Equatable {
    package let from: String
    package let to: String
    package init(from: String, to: String) {
        self.from = from
        self.to = to
    }
}

/// A wave that waits for a decision.
package struct TokenWaveRecord: Sendable, Encodable {
    package let app: String
    package let credential: String
    /// `gone` or `foreign`.
    package let evidence: String
    package let window: TokenWindow
    /// Of its worst minutes.
    package let answers, against: Int64
    /// Addresses that it keeps from being retired.
    package let held: Int64
    package let pausedRuns: [Int64]
}

/// One move of an address, and the evidence. Never the address.
package struct TokenChangeRecord: Sendable, Encodable {
    package let subscriber: Int64
    package let externalID: String
    package let credential: String
    package let from, to: String
    package let reason: String
    package let status: Int16?
    package let goneSince: String?
    package let run: Int64
    package let at: String
    /// `waits`, `stands`, `taken back`, `void`, `held`.
    package let verdict: String
}

package struct TokenStory: Sendable, Encodable {
    package let subscriber: Int64
    package let externalID: String
    package let state: String
    package let since: String
    package let addressVersion: Int32
    package let registeredAt: String
    package let changes: [TokenChangeRecord]
}

extension AdminStore {
    package func tokenWaves(app: String?) async throws -> [TokenWaveRecord] {
        if let app { _ = try await appID(app) }
        return try await client.query(.tokenWaves(app: app), deadline: .seconds(30)).map { row in
            TokenWaveRecord(
                app: row.string(0), credential: row.string(1), evidence: row.string(2),
                window: TokenWindow(from: row.string(3), to: row.string(4)), answers: row.int64(5),
                against: row.int64(6), held: row.int64(7), pausedRuns: row.int64Array(8))
        }
    }

    /// The latest first.
    /// - Parameter state: only addresses that are in it now.
    package func tokenChanges(
        app: String, credential: String?, state: SubscriberState?, limit: Int32
    ) async throws -> [TokenChangeRecord] {
        let app = try await appID(app).rawValue
        let query = PostgresQuery.tokenChanges(
            app: app, credential: credential, state: state?.rawValue, subscriber: nil, limit: limit)
        return try await client.query(query, deadline: .seconds(60)).map { TokenChangeRecord($0) }
    }

    package func token(app name: String, externalID: String) async throws -> TokenStory {
        let app = try await appID(name).rawValue
        guard let row = try await client.query(.token(app: app, externalID: externalID)).first else {
            throw AdminError("subscriber: app '\(name)' has none of the external id '\(externalID)'")
        }
        let query = PostgresQuery.tokenChanges(
            app: app, credential: nil, state: nil, subscriber: row.int64(0), limit: 100)
        let changes = try await client.query(query, deadline: .seconds(30)).map { TokenChangeRecord($0) }
        return TokenStory(
            subscriber: row.int64(0), externalID: externalID, state: row.string(1), since: row.string(2),
            addressVersion: row.int32(3), registeredAt: row.string(4), changes: changes)
    }

    /// Takes back what answers of the credential did to addresses within the window; how many are back.
    package func restoreTokens(app: String, credential: String, in window: TokenWindow) async throws -> Int64 {
        try await requireCredential(app, credential)
        try await requireOrder(window)
        return try await client.query(
            """
            SELECT pushfleet.restore_tokens(
                \(app), \(credential), (\(window.from)::text)::timestamptz, (\(window.to)::text)::timestamptz
            )
            """, deadline: .seconds(300))[0].int64(0)
    }

    /// Retires what waves of the credential hold within the window; how many.
    package func acceptTokens(app: String, credential: String, in window: TokenWindow) async throws -> Int64 {
        try await requireCredential(app, credential)
        try await requireOrder(window)
        return try await client.query(
            """
            SELECT pushfleet.accept_tokens(
                \(app), \(credential), (\(window.from)::text)::timestamptz, (\(window.to)::text)::timestamptz
            )
            """, deadline: .seconds(300))[0].int64(0)
    }

    /// The texts are PostgreSQL's to read.
    private func requireOrder(_ window: TokenWindow) async throws {
        let rows = try await client.query(
            "SELECT (\(window.from)::text)::timestamptz < (\(window.to)::text)::timestamptz")
        guard rows[0].bool(0) else {
            throw AdminError("from: \(window.from) is not before --to \(window.to); exchange or correct them")
        }
    }

    private func requireCredential(_ app: String, _ name: String) async throws {
        guard try await credentials(app: app).contains(where: { $0.name == name }) else {
            throw AdminError("credential: app '\(app)' has no '\(name)'; see: pushfleet credential list --app \(app)")
        }
    }
}

extension TokenChangeRecord {
    fileprivate init(_ row: PostgresRow) {
        self.init(
            subscriber: row.int64(0), externalID: row.string(1), credential: row.string(2), from: row.string(3),
            to: row.string(4), reason: row.string(5), status: row.int16OrNil(6), goneSince: row.stringOrNil(7),
            run: row.int64(8), at: row.string(9), verdict: row.string(10))
    }
}

extension PostgresQuery {
    static func tokenWaves(app: String?) -> PostgresQuery {
        """
        SELECT app.name, c.name, CASE w.evidence WHEN 1 THEN 'gone' ELSE 'foreign' END,
            to_char(w.from_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            to_char(w.to_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            w.answers, w.against,
            (
                SELECT count(*)
                FROM pushfleet.token_change t
                WHERE t.credential_id = w.credential_id
                    AND t.at >= w.from_at
                    AND t.at < w.to_at
                    AND t.evidence = w.evidence
                    AND t.verdict IN (0, 4)
            ),
            w.paused_runs
        FROM pushfleet.token_wave w
        JOIN pushfleet.credential c ON c.id = w.credential_id
        JOIN pushfleet.app ON app.id = c.app_id
        WHERE w.state = 0 AND (\(app)::text IS NULL OR app.name = \(app))
        ORDER BY w.from_at
        """
    }

    static func token(app: Int64, externalID: String) -> PostgresQuery {
        """
        SELECT s.id,
            (ARRAY['active', 'suspect', 'unregistered', 'wrong_project', 'quarantined'])[s.state],
            to_char(s.state_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), s.address_version,
            to_char(s.registered_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        FROM pushfleet.app
        JOIN pushfleet.subscriber s ON s.shard = ANY (app.shards) AND s.app_id = app.id
        WHERE app.id = \(app) AND s.external_id = \(externalID)
        """
    }

    static func tokenChanges(
        app: Int64, credential: String?, state: Int16?, subscriber: Int64?, limit: Int32
    ) -> PostgresQuery {
        """
        SELECT t.subscriber_id, coalesce(s.external_id, ''), coalesce(c.name, ''),
            (ARRAY['active', 'suspect', 'unregistered', 'wrong_project', 'quarantined'])[t.from_state],
            (ARRAY['active', 'suspect', 'unregistered', 'wrong_project', 'quarantined'])[t.to_state],
            coalesce(reason.name, t.reason::text), t.status,
            to_char(t.gone_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), t.run_id,
            to_char(t.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            (ARRAY['waits', 'stands', 'taken back', 'void', 'held'])[t.verdict + 1]
        FROM pushfleet.token_change t
        LEFT JOIN pushfleet.subscriber s ON s.shard = t.shard AND s.id = t.subscriber_id
        LEFT JOIN pushfleet.credential c ON c.id = t.credential_id
        LEFT JOIN pushfleet.reason ON reason.code = t.reason
        WHERE t.app_id = \(app)
            AND (\(credential)::text IS NULL OR c.name = \(credential))
            AND (\(state)::smallint IS NULL OR s.state = \(state))
            AND (\(subscriber)::bigint IS NULL OR t.subscriber_id = \(subscriber))
        ORDER BY t.id DESC
        LIMIT \(limit)
        """
    }
}

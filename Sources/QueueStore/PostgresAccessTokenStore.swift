import Domain
import Postgres

/// Provider tokens in PostgreSQL: one row for each credential, sealed.
package struct PostgresAccessTokenStore: AccessTokenStore {
    let client: PostgresClient

    package init(client: PostgresClient) { self.client = client }

    package func sealedToken(credential: Credential.ID) async throws -> SealedToken? {
        try await client.query(.sealedToken(of: credential), deadline: .seconds(5)).first.map { row in
            SealedToken(
                sealed: row.bytes(0), issuedAt: Instant(microseconds: row.timestampMicroseconds(1)),
                expiresAt: Instant(microseconds: row.timestampMicroseconds(2)))
        }
    }

    package func beginRefresh(
        credential: Credential.ID, by worker: WorkerID, for span: Duration, replacing seen: Instant?
    ) async throws -> Bool {
        let query = PostgresQuery.beginRefresh(of: credential, by: worker, for: span, replacing: seen)
        return try await client.query(query, deadline: .seconds(5)).count == 1
    }

    package func store(_ token: SealedToken, credential: Credential.ID, by worker: WorkerID) async throws {
        _ = try await client.query(.store(token, of: credential), deadline: .seconds(5))
    }

    package func now() async throws -> Instant { try await client.databaseNow() }
}

extension PostgresQuery {
    static func sealedToken(of credential: Credential.ID) -> PostgresQuery {
        """
        SELECT sealed, issued_at, expires_at
        FROM pushfleet.access_token
        WHERE credential_id = \(credential.rawValue) AND sealed IS NOT NULL
        """
    }

    /// No row: another worker is at it, or the token is not the one that was seen any more.
    static func beginRefresh(
        of credential: Credential.ID, by worker: WorkerID, for span: Duration, replacing seen: Instant?
    ) -> PostgresQuery {
        """
        INSERT INTO pushfleet.access_token AS token (credential_id, refreshing_by, refreshing_until)
        SELECT \(credential.rawValue), \(worker.uuid), now() + \(PostgresInterval(span))
        WHERE \(seen?.timestamp) IS NULL
            OR EXISTS (SELECT FROM pushfleet.access_token known WHERE known.credential_id = \(credential.rawValue))
        ON CONFLICT (credential_id) DO UPDATE
        SET refreshing_by = excluded.refreshing_by, refreshing_until = excluded.refreshing_until
        WHERE token.expires_at IS NOT DISTINCT FROM \(seen?.timestamp)
            AND (
                token.refreshing_until IS NULL
                OR token.refreshing_until < now()
                OR token.refreshing_by = excluded.refreshing_by
            )
        RETURNING token.credential_id
        """
    }

    static func store(_ token: SealedToken, of credential: Credential.ID) -> PostgresQuery {
        """
        INSERT INTO pushfleet.access_token (credential_id, sealed, issued_at, expires_at)
        VALUES (
            \(credential.rawValue), \(token.sealed), \(token.issuedAt.timestamp), \(token.expiresAt.timestamp)
        )
        ON CONFLICT (credential_id) DO UPDATE
        SET sealed = excluded.sealed,
            issued_at = excluded.issued_at,
            expires_at = excluded.expires_at,
            refreshing_by = NULL,
            refreshing_until = NULL
        """
    }
}

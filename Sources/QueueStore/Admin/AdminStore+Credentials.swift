import Domain
import FoundationEssentials
import Postgres

/// A credential to be added. The secret stays in its file.
package struct NewCredential: Sendable {
    package var app: String
    package var name: String
    package var transport: TransportKind
    /// Where the secret lies on every worker's machine.
    package var file: String
    package var endpoint: String?
    /// What may be known of it.
    package var facts: [String: String]

    package init(
        app: String, name: String, transport: TransportKind, file: String, endpoint: String? = nil,
        facts: [String: String] = [:]
    ) {
        self.app = app
        self.name = name
        self.transport = transport
        self.file = file
        self.endpoint = endpoint
        self.facts = facts
    }
}

package struct CredentialSummary: Codable, Sendable, Equatable {
    package let id: Int64
    package let app: String
    package let name: String
    package let transport: String
    package let isPaused: Bool
    /// Why it is paused, or `none`.
    package let reason: String
    /// RFC 3339: when it was paused; nil while it is not.
    package let since: String?
    package let file: String
}

extension AdminStore {
    /// Adds a credential and its routes, or changes where the secret of one that is there lies.
    package func addCredential(_ credential: NewCredential) async throws -> CredentialSummary {
        let services: [Int16] = credential.transport == .webpush ? [1, 2, 3, 4, 5] : [0]
        let facts = String(decoding: try JSONEncoder().encode(credential.facts), as: UTF8.self)
        try await client.withTransaction { connection in
            guard let row = try await connection.query(.upsert(credential, facts: facts)).first else {
                throw AdminError.unknownApp(credential.app)
            }
            _ = try await connection.query(
                .upsertRoutes(of: row.int64(0), transport: credential.transport, services: services))
        }
        let all = try await credentials(app: credential.app)
        guard let added = all.first(where: { $0.name == credential.name }) else {
            throw AdminError(.unknownCredential, "credential: it was removed meanwhile", remedy: "add it again")
        }
        return added
    }

    /// - Parameter app: nil = those of all apps.
    package func credentials(app: String?) async throws -> [CredentialSummary] {
        try await client.query(.credentials(app: app)).map { row in
            CredentialSummary(
                id: row.int64(0), app: row.string(1), name: row.string(2),
                transport: TransportKind(rawValue: row.int16(3))?.name ?? "unknown", isPaused: row.int16(4) == 1,
                reason: row.string(5), since: row.stringOrNil(6), file: row.string(7))
        }
    }

    /// Opens a paused credential's routes again.
    package func resumeCredential(app: String, name: String) async throws {
        guard try await client.query(.resumeCredential(app: app, name: name)).count == 1 else {
            throw AdminError(
                .unknownCredential, "credential: app '\(app)' has no '\(name)'",
                remedy: "see: pushfleet credential list")
        }
    }
}

extension PostgresQuery {
    /// A credential that is paused stays so: a new file does not prove that the fault is gone.
    static func upsert(_ credential: NewCredential, facts: String) -> PostgresQuery {
        """
        INSERT INTO pushfleet.credential (app_id, name, transport, file, endpoint, facts)
        SELECT app.id, \(credential.name), \(credential.transport.rawValue), \(credential.file),
            \(credential.endpoint), \(PostgresJSON(facts))
        FROM pushfleet.app
        WHERE app.name = \(credential.app)
        ON CONFLICT (app_id, name) DO UPDATE
        SET transport = excluded.transport,
            file = excluded.file,
            endpoint = excluded.endpoint,
            facts = excluded.facts
        RETURNING id
        """
    }

    static func upsertRoutes(of credential: Int64, transport: TransportKind, services: [Int16]) -> PostgresQuery {
        """
        INSERT INTO pushfleet.route (app_id, transport, service, credential_id, backoff)
        SELECT credential.app_id, \(transport.rawValue), service.service, credential.id,
            CASE WHEN \(transport.rawValue) = 2 THEN interval '10 s' ELSE interval '2 s' END
        FROM pushfleet.credential
        CROSS JOIN LATERAL unnest(\(services)) AS service (service)
        WHERE credential.id = \(credential)
        ON CONFLICT (app_id, transport, service) DO UPDATE
        SET credential_id = excluded.credential_id,
            state = CASE WHEN route.state = 2 THEN 0 ELSE route.state END
        """
    }

    static func credentials(app: String?) -> PostgresQuery {
        """
        SELECT credential.id, app.name, credential.name, credential.transport, credential.state,
            coalesce(reason.name, credential.state_reason::text),
            CASE WHEN credential.state = 1
                THEN to_char(credential.state_since AT TIME ZONE 'UTC', \(InstantText.format))
            END,
            credential.file
        FROM pushfleet.credential
        JOIN pushfleet.app ON app.id = credential.app_id
        LEFT JOIN pushfleet.reason ON reason.code = credential.state_reason
        WHERE \(app) IS NULL OR app.name = \(app)
        ORDER BY app.name, credential.name
        """
    }

    static func resumeCredential(app: String, name: String) -> PostgresQuery {
        """
        WITH opened AS (
            UPDATE pushfleet.credential
            SET state = 0, state_reason = 0, state_since = now()
            FROM pushfleet.app
            WHERE app.id = credential.app_id AND app.name = \(app) AND credential.name = \(name)
            RETURNING credential.id
        ),
        routes AS (
            UPDATE pushfleet.route
            SET state = 0, paused_reason = NULL, paused_at = NULL
            FROM opened
            WHERE route.credential_id = opened.id AND route.state = 1
        )
        SELECT id FROM opened
        """
    }
}

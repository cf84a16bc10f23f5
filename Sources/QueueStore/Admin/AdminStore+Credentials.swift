import Domain
import FoundationEssentials
import Postgres

package struct NewCredential: Sendable {
    package var app: String
    package var name: String
    package var transport: TransportKind
    /// Absolute path of the secret on every worker's machine.
    package var file: String
    package var endpoint: String?
    /// What may be known of it; never a secret.
    package var facts: [String: String]

    package init(
        app: String, name: String, transport: TransportKind, file: String, endpoint: String?, facts: [String: String]
    ) {
        self.app = app
        self.name = name
        self.transport = transport
        self.file = file
        self.endpoint = endpoint
        self.facts = facts
    }
}

package struct CredentialRecord: Sendable, Encodable {
    package let app: String
    package let name: String
    package let transport: String
    package let file: String
    package let isPaused: Bool
    package let reason: String
    package let since: String?
    /// nil = never.
    package let lastSuccessAt: String?
    /// Of the provider token that the fleet shares. Keys do not expire of themselves; Web Push has no such token.
    package let tokenExpiresAt: String?
    /// What is wrong with it, as a worker found.
    package let detail: String?
    /// What a person can do; nil when it is not paused.
    package let remedy: String?
}

extension AdminStore {
    /// Adds a credential and the routes that send with it: for Web Push one for each push service. One of that name takes
    /// the new file and endpoint.
    ///
    /// Web Push subscriptions of which nothing is known stay with the key that signed for them until now: a browser's
    /// subscription is tied to its key for life.
    package func addCredential(_ new: NewCredential) async throws -> CredentialRecord {
        let app = try await appID(new.app).rawValue
        let facts = String(decoding: try JSONEncoder().encode(new.facts), as: UTF8.self)
        let backoff = new.transport == .fcm ? Duration.seconds(10) : .seconds(2)
        let routes = try await client.query(
            """
            WITH credential AS (
                INSERT INTO pushfleet.credential AS known (app_id, name, transport, file, endpoint, facts)
                VALUES (
                    \(app), \(new.name), \(new.transport.rawValue), \(new.file), \(new.endpoint),
                    \(PostgresJSON(facts))
                )
                ON CONFLICT (app_id, name) DO UPDATE
                SET transport = excluded.transport, file = excluded.file, endpoint = excluded.endpoint,
                    facts = excluded.facts, state = 0, state_reason = 0, state_since = now(), state_detail = NULL,
                    fault_fingerprint = NULL, revision = known.revision + 1
                -- Subscriptions name their VAPID key by this row: another key needs a row of its own.
                WHERE known.transport = excluded.transport
                    AND (known.transport <> 3 OR known.facts ->> 'public_key' = excluded.facts ->> 'public_key')
                RETURNING id, app_id, transport
            ),
            before AS MATERIALIZED (
                SELECT route.app_id, route.credential_id
                FROM credential
                JOIN pushfleet.route ON route.app_id = credential.app_id AND route.transport = 3 AND route.service = 1
                WHERE credential.transport = 3 AND route.credential_id <> credential.id
            ),
            tied AS (
                UPDATE pushfleet.subscriber
                SET vapid_credential = before.credential_id
                FROM before
                WHERE subscriber.app_id = before.app_id AND subscriber.transport = 3
                    AND subscriber.vapid_credential IS NULL
            )
            INSERT INTO pushfleet.route AS known (app_id, transport, service, credential_id, backoff)
            SELECT app_id, transport, services.service, id, \(PostgresInterval(backoff))
            FROM credential
            CROSS JOIN generate_series(
                (transport = 3)::int, CASE WHEN transport = 3 THEN 5 ELSE 0 END) AS services (service)
            ON CONFLICT (app_id, transport, service) DO UPDATE
            SET credential_id = excluded.credential_id, state = 0, paused_reason = NULL, paused_at = NULL,
                reopen_at = NULL, trips = 0
            RETURNING id
            """)
        guard !routes.isEmpty else {
            throw AdminError(
                "name: '\(new.name)' holds another VAPID key or transport; older subscriptions need it, use a new name")
        }
        guard let added = try await credentials(app: new.app).first(where: { $0.name == new.name }) else {
            throw AdminError("credential: '\(new.name)' was deleted meanwhile; try again")
        }
        return added
    }

    package func credentials(app: String?) async throws -> [CredentialRecord] {
        if let app { _ = try await appID(app) }
        let rows = try await client.query(
            """
            SELECT app.name, c.name, c.transport, c.file, c.state, coalesce(reason.name, c.state_reason::text),
                to_char(c.state_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), c.state_detail, c.state_reason,
                to_char(seen.last_success_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                to_char(seen.token_expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            FROM pushfleet.credential c
            JOIN pushfleet.app ON app.id = c.app_id
            JOIN pushfleet_report.credentials seen ON seen.app = app.name AND seen.credential = c.name
            LEFT JOIN pushfleet.reason ON reason.code = c.state_reason
            WHERE \(app)::text IS NULL OR app.name = \(app)
            ORDER BY app.name, c.name
            """)
        return rows.map {
            CredentialRecord(
                app: $0.string(0), name: $0.string(1),
                transport: TransportKind(rawValue: $0.int16(2))?.name ?? "unknown",
                file: $0.string(3), isPaused: $0.int16(4) == 1, reason: $0.string(5), since: $0.stringOrNil(6),
                lastSuccessAt: $0.stringOrNil(9), tokenExpiresAt: $0.stringOrNil(10), detail: $0.stringOrNil(7),
                remedy: $0.int16(4) == 1 ? (Reason(rawValue: $0.int16(8)) ?? .none).remedy : nil)
        }
    }

    /// Those of the run's app that are paused: why it may stand still.
    package func pausedCredentials(of run: Run.ID) async throws -> [CredentialRecord] {
        let rows = try await client.query(
            """
            SELECT app.name
            FROM pushfleet.run
            JOIN pushfleet.app ON app.id = run.app_id
            WHERE run.id = \(run.rawValue)
            """)
        guard let app = rows.first?.string(0) else { return [] }
        return try await credentials(app: app).filter(\.isPaused)
    }

    /// Opens a credential's routes again.
    package func resumeCredential(app: String, name: String) async throws {
        let id = try await appID(app).rawValue
        let rows = try await client.query(
            """
            WITH mended AS (
                UPDATE pushfleet.credential
                SET state = 0, state_reason = 0, state_since = now(), state_detail = NULL, fault_fingerprint = NULL,
                    revision = credential.revision + 1
                WHERE app_id = \(id) AND name = \(name)
                RETURNING id
            ),
            opened AS (
                UPDATE pushfleet.route
                SET state = 0, paused_reason = NULL, paused_at = NULL, reopen_at = NULL, trips = 0
                FROM mended
                WHERE route.credential_id = mended.id AND route.state = 1
            )
            SELECT id FROM mended
            """)
        guard !rows.isEmpty else {
            throw AdminError("name: app '\(app)' has no credential '\(name)'; see: pushfleet credential list")
        }
    }
}

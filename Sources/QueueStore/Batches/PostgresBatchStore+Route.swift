import Domain
import FoundationEssentials
import Postgres

extension PostgresBatchStore {
    package func route(_ id: Route.ID) async throws -> Route? {
        try await claims.query(.route(id), deadline: .seconds(5)).first.map { try Route($0) }
    }

    package func route(app: App.ID, transport: TransportKind, service: Int16) async throws -> Route? {
        try await claims.query(.route(app: app, transport: transport, service: service), deadline: .seconds(5))
            .first.map { try Route($0) }
    }

    package func pause(credential: Credential.ID, reason: Reason) async throws {
        _ = try await claims.query(.pause(credential: credential, reason: reason), deadline: .seconds(5))
    }
}

extension PostgresQuery {
    static func route(_ id: Route.ID) -> PostgresQuery {
        """
        SELECT route.id, route.app_id, route.transport, route.service, route.state, credential.id, credential.app_id,
            credential.name, credential.transport, credential.file, credential.endpoint, credential.facts::text,
            CASE WHEN route.transport = 3 THEN (
                SELECT jsonb_agg(
                    jsonb_build_object('id', other.id, 'file', other.file, 'facts', other.facts) ORDER BY other.id)
                FROM pushfleet.credential other
                WHERE other.app_id = route.app_id AND other.transport = 3 AND other.id <> credential.id
            )::text END
        FROM pushfleet.route
        JOIN pushfleet.credential ON credential.id = route.credential_id
        WHERE route.id = \(id.rawValue)
        """
    }

    /// The route that a subscriber of this kind has now, unless it was removed.
    static func route(app: App.ID, transport: TransportKind, service: Int16) -> PostgresQuery {
        """
        SELECT route.id, route.app_id, route.transport, route.service, route.state, credential.id, credential.app_id,
            credential.name, credential.transport, credential.file, credential.endpoint, credential.facts::text,
            CASE WHEN route.transport = 3 THEN (
                SELECT jsonb_agg(
                    jsonb_build_object('id', other.id, 'file', other.file, 'facts', other.facts) ORDER BY other.id)
                FROM pushfleet.credential other
                WHERE other.app_id = route.app_id AND other.transport = 3 AND other.id <> credential.id
            )::text END
        FROM pushfleet.route
        JOIN pushfleet.credential ON credential.id = route.credential_id
        WHERE route.app_id = \(app.rawValue)
            AND route.transport = \(transport.rawValue)
            AND route.service = \(service)
            AND route.state <> 2
        """
    }

    /// One statement, so that no claim sees a credential paused and one of its routes open. The first reason stays.
    static func pause(credential: Credential.ID, reason: Reason) -> PostgresQuery {
        """
        WITH paused AS (
            UPDATE pushfleet.credential
            SET state = 1, state_reason = \(reason.rawValue), state_since = now()
            WHERE credential.id = \(credential.rawValue) AND credential.state = 0
        )
        UPDATE pushfleet.route
        SET state = 1, paused_reason = \(reason.rawValue), paused_at = now()
        WHERE route.credential_id = \(credential.rawValue) AND route.state = 0
        """
    }
}

extension Route {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: ID(row.int64(0)), app: App.ID(row.int64(1)), transport: try stored(row.int16(2), "route.transport"),
            service: row.int16(3), state: try stored(row.int16(4), "route.state"),
            credential: CredentialReference(
                id: Credential.ID(row.int64(5)), app: App.ID(row.int64(6)), name: row.string(7),
                transport: try stored(row.int16(8), "credential.transport"), file: row.string(9),
                endpoint: row.stringOrNil(10), facts: try Self.decoded(row.string(11)),
                others: try row.stringOrNil(12).map { try Self.decoded($0, as: [OtherKey].self) }?.map(\.value) ?? []))
    }

    /// Another key of the app, as the query writes it.
    private struct OtherKey: Decodable {
        let id: Int64
        let file: String
        let facts: [String: String]

        var value: CredentialReference.OtherKey {
            CredentialReference.OtherKey(id: Credential.ID(id), file: file, facts: facts)
        }
    }

    private static func decoded<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}

import Domain
import Postgres

extension PostgresBatchStore {
    package func route(_ id: Route.ID) async throws -> Route? {
        try await claims.query(.route(id), deadline: .seconds(5)).first.map { try Route($0) }
    }

    package func route(app: App.ID, transport: TransportKind, service: Int16) async throws -> Route? {
        try await claims.query(.route(app: app, transport: transport, service: service), deadline: .seconds(5))
            .first.map { try Route($0) }
    }
}

extension PostgresQuery {
    static func route(_ id: Route.ID) -> PostgresQuery {
        """
        SELECT route.id, route.app_id, route.transport, route.service, route.state,
            (extract(epoch FROM route.backoff) * 1000)::bigint, route.trips > 0,
            credential.id, credential.app_id, credential.name, credential.transport, credential.file,
            credential.endpoint, credential.revision, credential.fault_fingerprint, credential.facts::text,
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
        SELECT route.id, route.app_id, route.transport, route.service, route.state,
            (extract(epoch FROM route.backoff) * 1000)::bigint, route.trips > 0,
            credential.id, credential.app_id, credential.name, credential.transport, credential.file,
            credential.endpoint, credential.revision, credential.fault_fingerprint, credential.facts::text,
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
}

extension Route {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: ID(row.int64(0)), app: App.ID(row.int64(1)), transport: try stored(row.int16(2), "route.transport"),
            service: row.int16(3), state: try stored(row.int16(4), "route.state"),
            credential: try CredentialReference(row, from: 7))
        backoff = .milliseconds(row.int64(5))
        isOnTrial = row.bool(6)
    }
}

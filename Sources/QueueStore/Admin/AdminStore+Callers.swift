import Domain
import Postgres

extension AdminStore {
    /// Lets a role and its members call the SQL API for an app, as a member of `pushfleet_caller`.
    /// - Returns: false if it could already.
    /// - Throws: `AdminError` when there is no such app or role.
    package func grant(app name: String, to role: String) async throws -> Bool {
        let app = try await appID(name)
        return try await client.withTransaction { connection in
            guard let row = try await connection.query(.quotedRole(role)).first else {
                throw AdminError("role: '\(role)' does not exist; create it: CREATE ROLE \(role) LOGIN")
            }
            if !row.bool(1) {
                _ = try await connection.query("GRANT pushfleet_caller TO \(unescaped: row.string(0))")
            }
            return try await connection.query(
                """
                INSERT INTO pushfleet.app_caller (app_id, caller)
                VALUES (\(app.rawValue), \(role)::text::name)
                ON CONFLICT DO NOTHING
                """
            ).affected > 0
        }
    }

    /// - Returns: false if it was not granted.
    package func revoke(app name: String, from role: String) async throws -> Bool {
        let app = try await appID(name)
        return try await client.query(
            """
            DELETE FROM pushfleet.app_caller WHERE app_id = \(app.rawValue) AND caller = \(role)::text::name
            """
        ).affected > 0
    }
}

extension PostgresQuery {
    /// A role's name as SQL writes it, and whether it belongs to the callers.
    fileprivate static func quotedRole(_ name: String) -> PostgresQuery {
        """
        SELECT quote_ident(role.rolname), pg_has_role(role.oid, 'pushfleet_caller', 'MEMBER')
        FROM pg_roles role
        WHERE role.rolname = \(name)::text::name
        """
    }
}

/// Where PostgreSQL is and how to speak with it.
package struct PostgresConfiguration: Sendable {
    /// Holds the password, if it was given here: never printed.
    let connectionString: String
    /// Shown in `pg_stat_activity`, unless the connection string or `PGAPPNAME` names another.
    package var applicationName: String
    /// Each connection prepares a statement once and runs it by name from then on. Behind a connection pooler that gives
    /// each transaction another server connection (PgBouncer in transaction mode) this must be off.
    package var preparedStatements: Bool

    /// - Parameter connectionString: a URL (`postgresql://user:password@host:5432/database?sslmode=require`) or
    ///   `key=value` pairs (PostgreSQL manual 34.1.1); libpq reads it, and takes what it leaves out, or all if it is
    ///   empty, from the standard variables (`PGHOST`, `PGPASSWORD`, `PGSSLMODE`, …). A service and a password file work
    ///   as they do with psql, and so do several hosts, of which `target_session_attrs=read-write` finds the primary. A
    ///   string that cannot be read shows when connecting.
    package init(
        _ connectionString: String = "", applicationName: String = "pushfleet", preparedStatements: Bool = true
    ) {
        self.connectionString = connectionString
        self.applicationName = applicationName
        self.preparedStatements = preparedStatements
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `user@host:port/database`, without the password.
    package var description: String {
        guard case .success(let parameters) = ConnectionParameters.read(connectionString) else {
            return "a connection string that cannot be read"
        }
        return parameters.description
    }

    package var debugDescription: String { description }

    /// What `dump` and an interpolated optional show: the description alone.
    package var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

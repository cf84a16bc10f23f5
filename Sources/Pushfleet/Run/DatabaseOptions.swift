import ArgumentParser
import Glibc
import Logging
import Postgres

/// Which database, for every command that needs one.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "PostgreSQL URL or conninfo without a password; default PUSHFLEET_DATABASE_URL, then PG*.")
    var database: String?

    @Flag(help: "For a pooler in transaction mode; default PUSHFLEET_PREPARED_STATEMENTS=off, else they are used.")
    var noPreparedStatements = false

    /// Off behind a pooler in transaction mode, which passes no notifications on either.
    var preparesStatements: Bool {
        !noPreparedStatements && environment("PUSHFLEET_PREPARED_STATEMENTS") != "off"
    }

    var configuration: PostgresConfiguration {
        configuration(database ?? environment("PUSHFLEET_DATABASE_URL") ?? "")
    }

    /// For another login, reached in the same way.
    func configuration(_ url: String) -> PostgresConfiguration {
        PostgresConfiguration(url, applicationName: "pushfleet", preparedStatements: preparesStatements)
    }

    /// Tries to connect, once: a user who named the wrong server learns it at once, where a role would wait.
    /// - Throws: `PostgresError` that says what is wrong.
    func requireReachable() async throws {
        let connection = PostgresConnection(configuration, logger: Logger(label: "pushfleet.postgres"))
        try await connection.connect(deadline: .seconds(5))
        await connection.close()
    }

    /// A pool for one command's own statements, closed when `body` ends.
    func withClient<Result: Sendable>(
        connections: Int = 1, _ body: (PostgresClient) async throws -> Result
    ) async throws -> Result {
        try await requireReachable()
        let client = PostgresClient(
            configuration, connections: connections, logger: Logger(label: "pushfleet.postgres"))
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }
}

/// For every command that a program may read.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON for programs.")
    var json = false
}

/// An environment variable that is set and not empty.
func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
}

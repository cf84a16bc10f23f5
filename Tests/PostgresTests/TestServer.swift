import Glibc
import Logging
import Postgres
import Testing

/// The PostgreSQL that the tests run against.
enum TestServer {
    /// From `PUSHFLEET_TEST_DATABASE_URL`. The role must be a superuser; nothing is left behind in the database.
    static func url() throws -> String {
        guard let value = getenv("PUSHFLEET_TEST_DATABASE_URL") else {
            throw MissingDatabase()
        }
        return String(cString: value)
    }

    struct MissingDatabase: Error, CustomStringConvertible {
        let description =
            "Set PUSHFLEET_TEST_DATABASE_URL to a PostgreSQL for tests: postgresql://user@127.0.0.1:5432/postgres"
    }

    static func configuration(preparedStatements: Bool = true) throws -> PostgresConfiguration {
        PostgresConfiguration(try url(), applicationName: "pushfleet-tests", preparedStatements: preparedStatements)
    }

    static let logger = Logger(label: "postgres-tests") { _ in SilentLogHandler() }

    /// Lends a client, and closes it.
    static func withClient<Result>(
        connections: Int = 1, preparedStatements: Bool = true, _ body: (PostgresClient) async throws -> Result
    ) async throws -> Result {
        let client = PostgresClient(
            try configuration(preparedStatements: preparedStatements), connections: connections, logger: logger)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    /// Lends a connection, connected, and closes it.
    static func withConnection<Result>(_ body: (PostgresConnection) async throws -> Result) async throws -> Result {
        let connection = PostgresConnection(try configuration(), logger: logger)
        try await connection.connect()
        do {
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }
}

/// Tests say what went wrong by failing.
private struct SilentLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.critical

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}

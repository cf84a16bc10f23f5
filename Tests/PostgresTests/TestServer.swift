import Glibc
import Logging
import Postgres
import TestSupport
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

    /// The URL with options set otherwise, which libpq takes in its query.
    static func url(adding options: [String: String]) throws -> String {
        let url = try url()
        let query = options.map { "\($0)=\($1)" }.joined(separator: "&")
        return url + (url.contains("?") ? "&" : "?") + query
    }

    /// Lends a relay to the server, which must listen on 127.0.0.1, and breaks it.
    static func withRelay<Result>(_ body: (Relay) async throws -> Result) async throws -> Result {
        let port = try await withConnection { connection in
            try await connection.query("SELECT inet_server_port()").first?.int32OrNil(0)
        }
        let relay = try Relay(target: UInt16(try #require(port, "The test server must be reached over TCP.")))
        defer { relay.goDown() }
        return try await body(relay)
    }

    /// Lends a client that goes through a relay.
    static func withRelayedClient<Result>(
        connections: Int = 1, _ body: (PostgresClient, Relay) async throws -> Result
    ) async throws -> Result {
        try await withRelay { relay in
            let url = try url(adding: ["host": "127.0.0.1", "port": "\(relay.port)"])
            let client = PostgresClient(PostgresConfiguration(url), connections: connections, logger: logger)
            do {
                let result = try await body(client, relay)
                await client.close()
                return result
            } catch {
                await client.close()
                throw error
            }
        }
    }

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

    func log(event: LogEvent) {}
}

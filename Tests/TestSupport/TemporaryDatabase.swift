import Foundation
import Logging
import Postgres
import Schema

/// A migrated database of a test's own on the server that `PUSHFLEET_TEST_DATABASE_URL` names, whose role must be a
/// superuser: a copy of a template, dropped when the test is over. It belongs to `fleet_owner`, and the server must let
/// all logins of `FleetLogin` in without a password.
///
/// With `PUSHFLEET_TEST_POOLER_URL` the tests reach their databases through that PgBouncer, which must run in
/// transaction mode and pass on any database of the same server. Making and dropping databases goes past it.
package struct TemporaryDatabase: Sendable {
    /// Through the pooler, if there is one.
    package let url: String
    /// Past the pooler: what needs a session, such as a transaction left open by a test.
    package let directURL: String

    package static var isPooled: Bool { poolerURL != nil }
    private static var poolerURL: String? { ProcessInfo.processInfo.environment["PUSHFLEET_TEST_POOLER_URL"] }

    /// Prepares statements unless a pooler is in between.
    /// - Parameter login: nil = the superuser.
    package func configuration(as login: FleetLogin? = nil) -> PostgresConfiguration {
        PostgresConfiguration(url(as: login), preparedStatements: !Self.isPooled)
    }

    /// A later parameter of the URL wins (PostgreSQL manual 34.1.1.2).
    package func url(as login: FleetLogin?) -> String { url + (login.map { "&user=\($0.name)" } ?? "") }

    /// Where `url` leads to, on 127.0.0.1.
    package var port: UInt16 { URLComponents(string: url)?.port.flatMap { UInt16(exactly: $0) } ?? 5432 }

    /// Names a database that somebody else made: the same one under another role, say.
    package init(url: String) { self.init(url: url, directURL: url) }

    private init(url: String, directURL: String) {
        self.url = url
        self.directURL = directURL
    }

    package static let logger = Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) }

    /// Creates the database, lends it, and drops it.
    package static func run<Result>(_ body: (TemporaryDatabase) async throws -> Result) async throws -> Result {
        let server = try serverURL()
        let admin = PostgresConnection(PostgresConfiguration(server), logger: logger)
        try await admin.connect()
        let template = try await ensureTemplate(on: server, admin)
        let name = "pushfleet_test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        _ = try await admin.query(
            "CREATE DATABASE \(unescaped: name) TEMPLATE \(unescaped: template) OWNER \(unescaped: FleetLogin.owner.name)",
            deadline: .seconds(60))
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(
                try await body(
                    TemporaryDatabase(
                        url: url(of: name, on: poolerURL ?? server), directURL: url(of: name, on: server))))
        } catch {
            outcome = .failure(error)
        }
        _ = try await admin.query("DROP DATABASE \(unescaped: name) WITH (FORCE)", deadline: .seconds(60))
        await admin.close()
        return try outcome.get()
    }

    /// Lends a pool, and closes it.
    package func withClient<Result>(
        connections: Int = 4, as login: FleetLogin? = nil, _ body: (PostgresClient) async throws -> Result
    ) async throws -> Result {
        let client = PostgresClient(configuration(as: login), connections: connections, logger: Self.logger)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    private static func serverURL() throws -> String {
        guard let url = ProcessInfo.processInfo.environment["PUSHFLEET_TEST_DATABASE_URL"] else {
            throw MissingServer()
        }
        return url
    }

    /// A later parameter of the URL wins (PostgreSQL manual 34.1.1.2).
    private static func url(of database: String, on server: String) -> String {
        server + (server.contains("?") ? "&" : "?") + "dbname=" + database
    }

    /// One for each set of migrations, made by whichever test comes first, in whichever process.
    private static func ensureTemplate(on server: String, _ admin: PostgresConnection) async throws -> String {
        let roles = try FleetLogin.script
        let text = roles + Migrations.all.map(\.up).joined()
        let hash = try await admin.query("SELECT md5(\(text)::text)")[0].string(0)
        let name = "pushfleet_template_" + hash
        _ = try await admin.query("SELECT pg_advisory_lock(hashtext(\(name)))::text", deadline: .seconds(60))
        let isThere = try await admin.query(
            "SELECT EXISTS (SELECT FROM pg_database WHERE datname = \(name) AND datistemplate)")[0].bool(0)
        if !isThere {
            _ = try await admin.query("DROP DATABASE IF EXISTS \(unescaped: name) WITH (FORCE)", deadline: .seconds(60))
            _ = try await admin.query("CREATE DATABASE \(unescaped: name)", deadline: .seconds(60))
            let direct = url(of: name, on: server)
            let database = TemporaryDatabase(url: direct, directURL: direct)
            try await database.withClient(connections: 1) { client in
                _ = try await client.query(PostgresQuery(stringLiteral: roles))
            }
            try await database.withClient(connections: 2, as: .owner) { client in
                _ = try await Migrator(client: client, logger: logger).up()
            }
            _ = try await admin.query("ALTER DATABASE \(unescaped: name) IS_TEMPLATE true")
        }
        _ = try await admin.query("SELECT pg_advisory_unlock(hashtext(\(name)))::text")
        return name
    }
}

package struct MissingServer: Error, CustomStringConvertible {
    package let description =
        "Set PUSHFLEET_TEST_DATABASE_URL to a PostgreSQL for tests: postgresql://user@127.0.0.1:5432/postgres"
}

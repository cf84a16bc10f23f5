import Foundation
import Logging
import Postgres
import Testing

@testable import Schema

/// A database of a test's own on the server that `PUSHFLEET_TEST_DATABASE_URL` names, whose role must be a superuser.
struct TemporaryDatabase {
    static let logger = Logger(label: "schema-tests") { TextLogHandler(label: $0, logLevel: .critical) }

    let url: String
    let client: PostgresClient

    /// Creates the database, lends it, and drops it.
    static func run(_ body: (TemporaryDatabase) async throws -> Void) async throws {
        let server = try #require(
            ProcessInfo.processInfo.environment["PUSHFLEET_TEST_DATABASE_URL"],
            "Set PUSHFLEET_TEST_DATABASE_URL to a PostgreSQL for tests: postgresql://user@127.0.0.1:5432/postgres")
        let name = "schema_test_" + UUID().uuidString.lowercased().filter { $0 != "-" }
        let admin = PostgresClient(PostgresConfiguration(server), connections: 1, logger: logger)
        _ = try await admin.query("CREATE DATABASE \(unescaped: name)", deadline: .seconds(60))
        // A later parameter of the URL wins (PostgreSQL manual 34.1.1.2).
        let url = server + (server.contains("?") ? "&" : "?") + "dbname=" + name
        let client = PostgresClient(PostgresConfiguration(url), connections: 8, logger: logger)
        var failure: (any Error)?
        do {
            try await body(TemporaryDatabase(url: url, client: client))
        } catch {
            failure = error
        }
        await client.close()
        _ = try await admin.query("DROP DATABASE \(unescaped: name) WITH (FORCE)", deadline: .seconds(60))
        await admin.close()
        if let failure { throw failure }
    }

    func migrator(_ migrations: [Migration], lockTimeout: Duration = .seconds(5)) -> Migrator {
        Migrator(client: client, logger: Self.logger, migrations: migrations, lockTimeout: lockTimeout)
    }

    /// What `pg_dump` says of the schema, without what changes from dump to dump.
    func dump() throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["pg_dump", "--schema-only", "--no-owner", url]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("\\restrict") && !$0.hasPrefix("\\unrestrict") }
        return lines.joined(separator: "\n")
    }
}

import Logging
import Postgres

/// Brings a database to the schema of this binary, or back.
///
/// Each migration is one transaction. Any number of processes may migrate at once: each migration is applied once.
package struct Migrator: Sendable {
    let client: PostgresClient
    let logger: Logger
    let migrations: [Migration]
    let lockTimeout: Duration
    let deadline: Duration

    /// - Parameters:
    ///   - migrations: those of the binary, but for tests.
    ///   - lockTimeout: how long one statement may wait for a lock on a table before its migration gives up.
    ///   - deadline: of one statement, and of waiting for another process that migrates.
    package init(
        client: PostgresClient, logger: Logger, migrations: [Migration] = Migrations.all,
        lockTimeout: Duration = .seconds(5), deadline: Duration = .seconds(1800)
    ) {
        self.client = client
        self.logger = logger
        self.migrations = migrations
        self.lockTimeout = lockTimeout
        self.deadline = deadline
    }

    /// Applies what is missing, lowest number first.
    /// - Parameter target: the last one to apply; all if nil.
    /// - Returns: what this call applied; another process may have applied others.
    /// - Throws: `SchemaError`, or `PostgresError` for what has nothing to do with a statement of a migration.
    package func up(to target: Int? = nil) async throws -> [Migration] {
        var done: [Migration] = []
        while let migration = try await applyNext(upTo: target ?? .max) {
            logger.info("Migration applied", metadata: ["migration": "\(migration.title)"])
            done.append(migration)
        }
        return done
    }

    /// Takes back every migration above the target, highest number first. What they made and held is gone.
    /// - Parameter target: the last one to keep; 0 for none.
    /// - Returns: what this call took back.
    package func down(to target: Int) async throws -> [Migration] {
        var done: [Migration] = []
        while let migration = try await revertNext(downTo: target) {
            logger.info("Migration taken back", metadata: ["migration": "\(migration.title)"])
            done.append(migration)
        }
        return done
    }

    /// Every migration that the binary or the database knows, lowest number first.
    package func status() async throws -> [MigrationStatus] {
        try await client.withConnection { connection in
            try await applied(connection).status(among: migrations)
        }
    }

    /// - Throws: `SchemaError` if a file was edited after it ran, or the schema excludes this binary.
    package func verify() async throws {
        try await client.withConnection { connection in try await applied(connection).check() }
    }

    /// As `verify`, and that nothing is missing.
    func verifyComplete() async throws {
        let rows = try await client.withConnection { connection in try await applied(connection) }
        try rows.check()
        let pending = migrations.filter { migration in !rows.contains { $0.number == migration.number } }
        guard pending.isEmpty else { throw SchemaError.behind(pending) }
    }

    func applied(_ connection: PostgresConnection) async throws(PostgresError) -> [AppliedMigration] {
        guard try await connection.query(.hasMigrationTable)[0].bool(0) else { return [] }
        return try await connection.query(.appliedMigrations(known: migrations)).map { row in
            AppliedMigration(
                number: Int(row.int32(0)), name: row.string(1), lowestBinary: Int(row.int32(2)),
                appliedAt: row.timestampMicroseconds(3),
                text: row.boolOrNil(4).map { $0 ? .same : .edited } ?? .unknown)
        }
    }
}

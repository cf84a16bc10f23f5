import Postgres

extension Migrator {
    /// Applies the first migration that is missing, in a transaction of its own.
    /// - Returns: nil if none is missing.
    func applyNext(upTo target: Int) async throws -> Migration? {
        try await client.withTransaction(deadline: .seconds(60)) { connection in
            _ = try await connection.query(.lockMigrations, deadline: deadline)
            // A statement of its own: it sees what was committed while the one before it waited.
            let applied = try await applied(connection)
            try applied.check()
            let missing = migrations.first { migration in !applied.contains { $0.number == migration.number } }
            guard let next = missing, next.number <= target else { return nil }
            if let last = applied.last, last.number > next.number { throw SchemaError.outOfOrder(next, after: last) }
            try await run(next.up, of: next, "up", connection)
            _ = try await connection.query(.createMigrationTable)
            _ = try await connection.query(.insertMigration(next))
            return next
        }
    }

    /// Takes back the last migration that was applied, in a transaction of its own.
    /// - Returns: nil if none above the target is applied.
    func revertNext(downTo target: Int) async throws -> Migration? {
        try await client.withTransaction(deadline: .seconds(60)) { connection in
            _ = try await connection.query(.lockMigrations, deadline: deadline)
            let applied = try await applied(connection)
            guard let last = applied.last, last.number > target else { return nil }
            guard let migration = migrations.first(where: { $0.number == last.number }) else {
                throw SchemaError.unknown(last)
            }
            // The first migration's way back drops the schema that holds the table.
            let bookkeeping: PostgresQuery =
                applied.count == 1 ? .dropMigrationTable : .deleteMigration(migration.number)
            _ = try await connection.query(bookkeeping)
            try await run(migration.down, of: migration, "down", connection)
            return migration
        }
    }

    private func run(
        _ text: String, of migration: Migration, _ direction: String, _ connection: PostgresConnection
    ) async throws {
        _ = try await connection.query(.limitLockWait(milliseconds: Int64(lockTimeout / .milliseconds(1))))
        _ = try await connection.query(.usePushfleetSchema)
        for (index, statement) in SQLStatement.split(text).enumerated() {
            do {
                _ = try await connection.query(PostgresQuery(stringLiteral: statement.text), deadline: deadline)
            } catch {
                throw SchemaError.failed(statement, index + 1, in: migration, direction, error)
            }
        }
        _ = try await connection.query(.resetSession)
    }
}

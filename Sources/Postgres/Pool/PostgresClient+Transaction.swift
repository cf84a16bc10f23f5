extension PostgresClient {
    /// Runs `body` in a transaction (READ COMMITTED), which is committed when it returns and rolled back when it throws.
    /// - Parameter deadline: for having the connection and beginning, and again for the commit. The statements of `body`
    ///   have their own.
    /// - Throws: what `body` threw, or why there was no transaction or no commit. Only of a commit whose answer did not
    ///   come is it unknown whether it took effect.
    package func withTransaction<Result: Sendable>(
        deadline: Duration = .seconds(10), _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let end = ContinuousClock.now + deadline
        let connection = try await take(until: end)
        do {
            _ = try await execute("BEGIN", on: connection, until: end)
            let result = try await run(body, on: connection)
            try await commit(connection, until: .now + deadline)
            await giveBack(connection)
            return result
        } catch {
            await rollBack(connection, until: .now + deadline)
            await giveBack(connection)
            throw error
        }
    }

    private func run<Result: Sendable>(
        _ body: (PostgresConnection) async throws -> Result, on connection: PostgresConnection
    ) async throws -> Result {
        do {
            return try await body(connection)
        } catch let error as PostgresError {
            // Nothing was committed, whatever became of the statement.
            throw error.withoutEffect()
        }
    }

    private func commit(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) async throws(PostgresError) {
        let command = try await connection.execute("COMMIT", until: deadline).command
        // To a transaction in which a statement failed the server answers so, and calls it no error.
        guard command == "COMMIT" else {
            throw PostgresError(.failedTransaction, "nothing was committed: an earlier statement had failed")
        }
    }

    private func rollBack(_ connection: PostgresConnection, until deadline: ContinuousClock.Instant) async {
        guard connection.isConnected, !connection.isIdle else { return }
        do {
            _ = try await connection.execute("ROLLBACK", until: deadline)
        } catch {
            // Without a connection the server rolls back by itself, and what the caller learns is the first error.
            await connection.close()
        }
    }
}

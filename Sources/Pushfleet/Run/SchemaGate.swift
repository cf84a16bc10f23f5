import Logging
import Loops
import Postgres
import Schema
import ServiceLifecycle

/// Runs services once the database is there and its schema fits, so that a process that starts during an outage starts in
/// earnest when it ends. Until then it is alive and not ready, and a signal ends it
/// within seconds.
struct SchemaGate: Service {
    let database: PostgresConfiguration
    /// Asks, once the database is there.
    let client: PostgresClient
    /// In the order in which they start.
    let services: [any Service]
    let logger: Logger

    /// - Throws: `SchemaError` when the schema does not fit this binary, which no waiting mends.
    func run() async throws {
        guard try await waitForSchema() else { return }
        try await ServiceGroup(services: services, logger: logger).run()
    }

    /// - Returns: false when a shutdown came first.
    private func waitForSchema() async throws -> Bool {
        var wait = Duration.milliseconds(200)
        while !Task.isShuttingDownGracefully {
            try Task.checkCancellation()
            do {
                try await requireReachable()
                try await SchemaCheck.require(client, logger: logger)
                return !Task.isShuttingDownGracefully
            } catch {
                guard let fault = error as? PostgresError, fault.isTransient else { throw error }
                logger.warning(
                    "waiting for the database",
                    metadata: ["error": "\(fault)", "remedy": "check --database, PUSHFLEET_DATABASE_URL or PG*"])
                await pause(wait)
                wait = min(wait * 2, .seconds(2))
            }
        }
        return false
    }

    /// The pool's own calls wait out an outage. Here each try ends soon: the log speaks, and a signal is obeyed.
    private func requireReachable() async throws {
        let connection = PostgresConnection(database, logger: logger)
        try await connection.connect(deadline: .seconds(3))
        await connection.close()
    }
}

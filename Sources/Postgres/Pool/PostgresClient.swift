import Logging
import ServiceLifecycle
import Threading

/// A fixed number of connections that callers share: each is opened when it is first needed, and again after it broke.
///
/// Who finds none free waits in line, as long as the call's deadline allows. While the server cannot be reached calls
/// wait too, and go out within a second of its return.
package final class PostgresClient: Sendable {
    let logger: Logger
    let connections: [PostgresConnection]
    let leases: Locked<Leases>
    let gate = Locked(ReconnectGate())
    /// Those that wait for the gate, by ticket.
    let gateWaiters = Locked<[UInt64: Wakeup]>([:])
    let keeperWakeup = Wakeup()

    /// - Parameter connections: the budget: never more are open, and each has a thread.
    package init(_ configuration: PostgresConfiguration, connections: Int, logger: Logger) {
        precondition(connections > 0, "A client without connections can do nothing.")
        self.logger = logger
        self.connections = (0..<connections).map { _ in PostgresConnection(configuration, logger: logger) }
        leases = Locked(Leases(self.connections))
    }

    /// False while no connection is open: before the first one, and while the server cannot be reached.
    package var isReady: Bool { connections.contains { $0.isConnected } }

    /// Never more are open than this.
    package var budget: Int { connections.count }
    package var openConnections: Int { connections.count { $0.isConnected } }

    /// Runs one statement on any connection, in a transaction of its own.
    /// - Parameter deadline: for waiting in line, connecting and the statement together.
    /// - Throws: what it means that the deadline passed depends on where the call stood: `connectionFailed` and the like
    ///   while connecting, else `deadlineExceeded`. `mayHaveTakenEffect` says whether the statement had been sent.
    package func query(
        _ query: PostgresQuery, deadline: Duration = .seconds(10)
    ) async throws(PostgresError) -> PostgresRows {
        let deadline = ContinuousClock.now + deadline
        let connection = try await take(until: deadline)
        do throws(PostgresError) {
            let rows = try await execute(query, on: connection, until: deadline)
            await giveBack(connection)
            return rows
        } catch {
            await giveBack(connection)
            throw error
        }
    }

    /// Lends a connection, for what takes several statements on the same one. What `body` leaves behind on it, an open
    /// transaction say, ends with the connection.
    /// - Parameter deadline: for having the connection. What is done with it has deadlines of its own.
    package func withConnection<Result: Sendable>(
        deadline: Duration = .seconds(10), _ body: (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        let deadline = ContinuousClock.now + deadline
        let connection = try await take(until: deadline)
        do {
            await connection.check()
            try await connect(connection, until: deadline)
            let result = try await body(connection)
            await giveBack(connection)
            return result
        } catch {
            await giveBack(connection)
            throw error
        }
    }

    /// Runs the statement, connecting before it if need be.
    func execute(
        _ query: PostgresQuery, on connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) async throws(PostgresError) -> PostgresRows {
        var attempts = 0
        while true {
            attempts += 1
            try await connect(connection, until: deadline)
            do throws(PostgresError) {
                return try await connection.execute(query, until: deadline)
            } catch {
                // The server closed the connection while it lay idle: nothing was sent.
                guard error.code == .connectionLost, !error.mayHaveTakenEffect, attempts < 3 else { throw error }
            }
        }
    }
}

import Logging
import Threading

extension PostgresClient {
    /// A connection of the budget, open or not, to be given back in any case.
    func take(until deadline: ContinuousClock.Instant) async throws(PostgresError) -> PostgresConnection {
        let (connection, waiter) = try leases.withLock { leases throws(PostgresError) in
            guard !leases.isClosed else { throw Self.closed }
            let connection = leases.take()
            return (connection, connection == nil ? leases.enqueue() : nil)
        }
        if let connection { return connection }
        guard let waiter else { preconditionFailure("Neither a connection nor a place in the queue.") }
        await waiter.wakeup.wait(until: deadline)
        let (given, isClosed) = leases.withLock { ($0.leave(waiter), $0.isClosed) }
        if let given { return given }
        if isClosed { throw Self.closed }
        if deadline > .now { throw Self.cancelled }
        throw gate.withLock { $0.lastFailure }
            ?? PostgresError(.deadlineExceeded, "no connection of the pool became free in time")
    }

    func giveBack(_ connection: PostgresConnection) async {
        // Of what was left open, a transaction say, the next one must know nothing.
        let isClosed = leases.withLock { $0.isClosed }
        if isClosed || !connection.isIdle { await connection.close() }
        leases.withLock { $0.giveBack(connection) }?.signal()
    }

    /// Connects unless it is connected, as often as the gate and the deadline allow.
    func connect(
        _ connection: PostgresConnection, until deadline: ContinuousClock.Instant
    ) async throws(PostgresError) {
        while !connection.isConnected {
            switch ask(isUrgent: true) {
            case .connect:
                do throws(PostgresError) {
                    try await attempt(connection, isUrgent: true, until: deadline)
                } catch {
                    guard error.isTransient, deadline > .now else { throw error }
                }
            case .wait(until: let turn):
                await waitForGate(until: min(turn, deadline))
                if leases.withLock({ $0.isClosed }) { throw Self.closed }
                if Task.isCancelled { throw Self.cancelled }
                if deadline <= .now { throw gate.withLock { $0.lastFailure } ?? Self.late }
            }
        }
    }

    /// A caller that has less time than this, and ran out of it, says nothing of the server, which may answer others.
    private static let fairTime = Duration.milliseconds(250)

    /// One attempt to connect, with permission of the gate.
    func attempt(
        _ connection: PostgresConnection, isUrgent: Bool, until deadline: ContinuousClock.Instant
    ) async throws(PostgresError) {
        let time = ContinuousClock.now.duration(to: deadline)
        do {
            try await connection.connect(until: deadline)
        } catch {
            if time < Self.fairTime, deadline <= .now { throw error }
            let isFirst = gate.withLock { gate in
                gate.fail(error, now: .now, isUrgent: isUrgent, draw: .random(in: 0..<1))
                return gate.failures == 1
            }
            if isFirst { logger.info("PostgreSQL cannot be reached", metadata: ["error": "\(error)"]) }
            throw error
        }
        guard let outage = gate.withLock({ $0.succeed(now: .now) }) else { return }
        logger.info("PostgreSQL is back", metadata: ["outage": "\(outage)"])
        for wakeup in gateWaiters.withLock({ $0.values.map { $0 } }) { wakeup.signal() }
    }

    func ask(isUrgent: Bool) -> ReconnectGate.Permission {
        gate.withLock { $0.ask(now: .now, isUrgent: isUrgent, draw: .random(in: 0..<1)) }
    }

    /// Waits for the instant, or until someone has connected.
    private func waitForGate(until deadline: ContinuousClock.Instant) async {
        let wakeup = Wakeup()
        let ticket = gateWaiters.withLock { waiters in
            let ticket = (waiters.keys.max() ?? 0) + 1
            waiters[ticket] = wakeup
            return ticket
        }
        await wakeup.wait(until: deadline)
        gateWaiters.withLock { _ = $0.removeValue(forKey: ticket) }
    }

    private static let closed = PostgresError(.closed, "the PostgreSQL client was closed")
    private static let late = PostgresError(.deadlineExceeded, "PostgreSQL could not be reached in time")
    private static let cancelled = PostgresError(
        .queryCanceled, "the task was cancelled while waiting for a connection")
}

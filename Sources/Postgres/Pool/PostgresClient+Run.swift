import ServiceLifecycle
import Threading

extension PostgresClient: Service {
    /// How often idle connections are looked at.
    private static let lookEvery = Duration.seconds(2)

    /// Keeps a connection open and `isReady` true to the facts, then closes on graceful shutdown. Queries do not need it.
    ///
    /// When the task is cancelled instead it leaves the connections open: others of its group may have something to
    /// record yet, and whoever made the client closes it.
    package func run() async throws {
        await withGracefulShutdownHandler {
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                await look()
                await keeperWakeup.wait(until: .now + Self.lookEvery * Double.random(in: 0.75..<1))
            }
        } onGracefulShutdown: {
            self.keeperWakeup.signal()
        }
        if Task.isShuttingDownGracefully { await close() }
    }

    /// Turns away new calls, lets those under way end, for 10 s at most, and closes all connections.
    package func close() async {
        let deadline = ContinuousClock.now + .seconds(10)
        let allBack = Wakeup()
        for wakeup in leases.withLock({ $0.close(allBack) }) { wakeup.signal() }
        for wakeup in gateWaiters.withLock({ $0.values.map { $0 } }) { wakeup.signal() }
        while !leases.withLock({ $0.areAllBack }), deadline > .now, !Task.isCancelled {
            await allBack.wait(until: deadline)
        }
        for connection in connections { await connection.close() }
    }

    /// Finds idle connections that broke, and opens one if none is left.
    private func look() async {
        for connection in connections where leases.withLock({ $0.take(connection) }) {
            await connection.check()
            if !isReady, ask(isUrgent: false) == .connect {
                do {
                    try await attempt(connection, isUrgent: false, until: .now + .seconds(10))
                } catch {
                    // Said in the log when it began, and the next look tries again.
                }
            }
            await giveBack(connection)
        }
    }
}

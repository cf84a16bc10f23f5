import Logging

/// Runs services until one ends or the process is asked to, and shuts them down one after another, the last one first.
package final class ServiceGroup: Service {
    private typealias Event = ServiceGroupState.Event

    private let configuration: ServiceGroupConfiguration
    /// Asked of the group as a whole; each service has one of its own, since their turns differ.
    private let shutdown = GracefulShutdown()

    package init(configuration: ServiceGroupConfiguration) { self.configuration = configuration }

    package convenience init(
        services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], cancellationSignals: [UnixSignal] = [],
        maximumGracefulShutdownDuration: Duration? = nil, logger: Logger
    ) {
        self.init(
            configuration: ServiceGroupConfiguration(
                services: services, gracefulShutdownSignals: gracefulShutdownSignals,
                cancellationSignals: cancellationSignals,
                maximumGracefulShutdownDuration: maximumGracefulShutdownDuration, logger: logger))
    }

    /// As a signal does, from within the process.
    package func triggerGracefulShutdown() async { shutdown.begin() }

    /// Returns when all services have ended. Once per group.
    /// - Throws: what the first service threw; `ServiceGroupError` if one returned that should not have;
    ///   `CancellationError` when services were cut short: by the caller, a second signal, or the maximum duration.
    package func run() async throws {
        let listened = configuration.gracefulShutdownSignals + configuration.cancellationSignals
        // Before the first service starts, so that no moment is left in which a signal kills.
        let signals = SignalTrap.shared.listen(to: listened)
        let failure = await withGracefulShutdownHandler {
            await withTaskGroup(of: Event.self) { group in await run(in: &group, signals) }
        } onGracefulShutdown: { [shutdown] in
            shutdown.begin()
        }
        if let failure { throw failure }
    }

    private func run(in group: inout TaskGroup<Event>, _ signals: AsyncStream<UnixSignal>) async -> (any Error)? {
        let shutdowns = configuration.services.map { _ in GracefulShutdown() }
        for index in shutdowns.indices { start(index, shutdowns[index], in: &group) }
        group.addTask { await self.next(signals) }
        group.addTask { await self.shutdownAsked() }
        var state = ServiceGroupState(configuration.services)
        while !state.isDone, let event = await group.next() {
            log(event)
            if event.signal != nil { group.addTask { await self.next(signals) } }
            let wasShuttingDown = state.isShuttingDown
            switch state.handle(event, isCancelled: Task.isCancelled) {
            case .none: break
            case .cancelAll: group.cancelAll()  // the listeners too: the next signal is not for us any more
            case .shutDown(let index):
                if !wasShuttingDown { startTimeLimit(in: &group) }
                shutdowns[index].begin()
            }
        }
        group.cancelAll()
        return state.failure
    }

    private func start(_ index: Int, _ shutdown: GracefulShutdown, in group: inout TaskGroup<Event>) {
        let service = configuration.services[index].service
        group.addTask {
            do {
                try await GracefulShutdown.$current.withValue(shutdown) { try await service.run() }
                return .finished(service: index, error: nil)
            } catch {
                return .finished(service: index, error: error)
            }
        }
    }

    private func startTimeLimit(in group: inout TaskGroup<Event>) {
        guard let limit = configuration.maximumGracefulShutdownDuration else { return }
        group.addTask {
            do { try await Task.sleep(for: limit) } catch { return .nothing }
            return .shutdownTookTooLong
        }
    }

    private func next(_ signals: AsyncStream<UnixSignal>) async -> Event {
        for await signal in signals {
            let cancels = configuration.cancellationSignals.contains(signal)
            return cancels ? .cancellationAsked(by: signal) : .shutdownAsked(by: signal)
        }
        return .nothing
    }

    private func shutdownAsked() async -> Event {
        do {
            try await GracefulShutdown.$current.withValue(shutdown) { try await gracefulShutdown() }
            return .shutdownAsked(by: nil)
        } catch {
            return .nothing
        }
    }

    private func log(_ event: Event) {
        let logger = configuration.logger
        switch event {
        case .nothing: break
        // Of a group within a group: the outer one has said it.
        case .shutdownAsked(nil): logger.debug("Shutting down")
        case .shutdownAsked(let signal?): logger.info("Shutting down", metadata: ["signal": "\(signal)"])
        case .cancellationAsked(let signal): logger.notice("Cancelling", metadata: ["signal": "\(signal)"])
        case .shutdownTookTooLong: logger.warning("Shutdown took too long")
        case .finished(let index, let error):
            var metadata: Logger.Metadata = ["service": "\(type(of: configuration.services[index].service))"]
            if let error { metadata["error"] = "\(error)" }
            logger.debug("Service ended", metadata: metadata)
        }
    }
}

extension ServiceGroupState.Event {
    fileprivate var signal: UnixSignal? {
        switch self {
        case .shutdownAsked(let signal): signal
        case .cancellationAsked(let signal): signal
        case .finished, .shutdownTookTooLong, .nothing: nil
        }
    }
}

/// What a `ServiceGroup` does about each event. A value without tasks or clocks: the group performs its actions.
struct ServiceGroupState {
    enum Event: Sendable {
        case finished(service: Int, error: (any Error)?)
        /// By whom is nil for whoever is not a signal.
        case shutdownAsked(by: UnixSignal?)
        case cancellationAsked(by: UnixSignal)
        /// The maximum duration of a graceful shutdown is over.
        case shutdownTookTooLong
        /// A listener has nothing more to say.
        case nothing
    }

    enum Action: Equatable {
        case none
        /// Ask this service to shut down. The first time, the maximum duration begins.
        case shutDown(service: Int)
        case cancelAll
    }

    private enum Phase { case running, shuttingDown, cancelled }

    private let services: [ServiceGroupConfiguration.ServiceConfiguration]
    private var phase = Phase.running
    private var unfinished: Set<Int>
    /// Whose turn it is to shut down.
    private var current: Int?
    /// What the group throws at its end. A cancellation is only a consequence, unless there is nothing else.
    private(set) var failure: (any Error)?

    var isDone: Bool { unfinished.isEmpty }
    var isShuttingDown: Bool { phase == .shuttingDown }

    init(_ services: [ServiceGroupConfiguration.ServiceConfiguration]) {
        self.services = services
        unfinished = Set(services.indices)
    }

    /// - Parameter isCancelled: whether somebody cancelled the group as a whole.
    mutating func handle(_ event: Event, isCancelled: Bool) -> Action {
        if isCancelled { phase = .cancelled }
        switch event {
        case .nothing: return .none
        case .finished(let service, let error): return finish(service, error)
        case .shutdownAsked where phase == .running: return beginShutdown()
        // The second request: whoever asks twice does not want to wait.
        case .shutdownAsked, .cancellationAsked, .shutdownTookTooLong: return cancel()
        }
    }

    private mutating func finish(_ service: Int, _ error: (any Error)?) -> Action {
        unfinished.remove(service)
        switch phase {
        case .running: return finishUnasked(service, error)
        case .shuttingDown:
            // Waiting that a shutdown cuts short ends in a cancellation: that is how such a service obeys.
            if let error, !(error is CancellationError && current == service) {
                note(error)
                if services[service].failureTerminationBehavior == .cancelGroup { return cancel() }
            }
            return current == service ? shutDownNext() : .none
        case .cancelled:
            if let error { note(error) }
            return .none
        }
    }

    private mutating func finishUnasked(_ service: Int, _ error: (any Error)?) -> Action {
        let configuration = services[service]
        let behavior =
            error == nil ? configuration.successTerminationBehavior : configuration.failureTerminationBehavior
        switch behavior {
        case .ignore: return .none
        case .cancelGroup:
            note(error ?? ServiceGroupError.finishedUnexpectedly(configuration.service))
            return cancel()
        case .gracefullyShutdownGroup:
            if let error { note(error) }
            return beginShutdown()
        }
    }

    private mutating func beginShutdown() -> Action {
        phase = .shuttingDown
        return shutDownNext()
    }

    private mutating func shutDownNext() -> Action {
        current = unfinished.max()
        return current.map { .shutDown(service: $0) } ?? .none
    }

    private mutating func cancel() -> Action {
        guard phase != .cancelled else { return .none }
        phase = .cancelled
        return .cancelAll
    }

    private mutating func note(_ error: any Error) {
        if failure == nil || failure is CancellationError { failure = error }
    }
}

extension ServiceGroupError {
    fileprivate static func finishedUnexpectedly(_ service: any Service) -> Self {
        ServiceGroupError(code: .serviceFinishedUnexpectedly, service: "\(type(of: service))")
    }
}

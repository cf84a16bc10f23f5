import Logging

/// What a `ServiceGroup` runs and when it stops.
package struct ServiceGroupConfiguration: Sendable {
    /// What the end of one service means to the group, while no shutdown is under way.
    package enum TerminationBehavior: Sendable {
        /// All other services are cancelled, and the group throws.
        case cancelGroup
        /// The others shut down gracefully; then the group throws what the service threw, if it did.
        case gracefullyShutdownGroup
        /// The others run on.
        case ignore
    }

    package struct ServiceConfiguration: Sendable {
        package let service: any Service
        package var successTerminationBehavior: TerminationBehavior
        package var failureTerminationBehavior: TerminationBehavior

        package init(
            service: any Service, successTerminationBehavior: TerminationBehavior = .cancelGroup,
            failureTerminationBehavior: TerminationBehavior = .cancelGroup
        ) {
            self.service = service
            self.successTerminationBehavior = successTerminationBehavior
            self.failureTerminationBehavior = failureTerminationBehavior
        }
    }

    /// In the order in which they start, one that others need before them. They stop in reverse.
    package var services: [ServiceConfiguration]
    /// The first begins a graceful shutdown, a second one cancels it, a third ends the process as if nobody listened.
    package var gracefulShutdownSignals: [UnixSignal]
    /// These cancel at once.
    package var cancellationSignals: [UnixSignal]
    /// How long a graceful shutdown may take before the group is cancelled. Without limit if nil.
    package var maximumGracefulShutdownDuration: Duration?
    package var logger: Logger

    package init(
        services: [ServiceConfiguration], gracefulShutdownSignals: [UnixSignal] = [],
        cancellationSignals: [UnixSignal] = [], maximumGracefulShutdownDuration: Duration? = nil, logger: Logger
    ) {
        self.services = services
        self.gracefulShutdownSignals = gracefulShutdownSignals
        self.cancellationSignals = cancellationSignals
        self.maximumGracefulShutdownDuration = maximumGracefulShutdownDuration
        self.logger = logger
    }

    package init(
        services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], cancellationSignals: [UnixSignal] = [],
        maximumGracefulShutdownDuration: Duration? = nil, logger: Logger
    ) {
        self.init(
            services: services.map { ServiceConfiguration(service: $0) },
            gracefulShutdownSignals: gracefulShutdownSignals, cancellationSignals: cancellationSignals,
            maximumGracefulShutdownDuration: maximumGracefulShutdownDuration, logger: logger)
    }
}

/// Why a group ended, if no service threw.
package struct ServiceGroupError: Error, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable {
        case serviceFinishedUnexpectedly
    }

    package let code: Code
    /// The type of the service.
    package let service: String

    package var description: String { "service \(service) ended although nobody asked it to" }
}

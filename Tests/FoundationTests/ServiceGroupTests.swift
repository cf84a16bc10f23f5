import Glibc
import Logging
import Testing
import Threading

@testable import ServiceLifecycle

/// One at a time: a signal is for the whole process.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ServiceGroupTests {
    private let events = Locked<[String]>([])
    private let logger = Logger(label: "test") { TextLogHandler(label: $0, logLevel: .critical) }

    private func record(_ event: String) { events.withLock { $0.append(event) } }
    private var recorded: [String] { events.withLock { $0 } }

    /// Runs until the shutdown, or until cancelled, and says which.
    private func obedient(_ name: String, started: @escaping @Sendable () -> Void = {}) -> any Service {
        Closure { [self] in
            started()
            do {
                try await gracefulShutdown()
                record("\(name) shut down")
            } catch {
                record("\(name) cancelled")
                throw error
            }
        }
    }

    /// Takes no notice of a shutdown.
    private func stubborn(_ name: String, started: @escaping @Sendable () -> Void = {}) -> any Service {
        Closure { [self] in
            await withGracefulShutdownHandler {
                started()
                await Wakeup().wait(until: .now + .seconds(3600))
                record("\(name) cancelled")
            } onGracefulShutdown: {
                record("\(name) asked")
            }
        }
    }

    @Test(arguments: [UnixSignal.sigterm, .sigint])
    func `a signal shuts services down, the last one first`(signal: UnixSignal) async throws {
        let services = [
            obedient("pool"), obedient("worker"), obedient("admin") { kill(getpid(), signal.rawValue) },
        ]
        try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger).run()
        #expect(recorded == ["admin shut down", "worker shut down", "pool shut down"])
    }

    @Test func `a second signal cancels`() async throws {
        let asked = Closure {
            await withGracefulShutdownHandler {
                kill(getpid(), SIGTERM)
                await Wakeup().wait(until: .now + .seconds(3600))
            } onGracefulShutdown: {
                kill(getpid(), SIGINT)
            }
        }
        let group = ServiceGroup(
            services: [obedient("pool"), asked], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        await #expect(throws: CancellationError.self) { try await group.run() }
        #expect(recorded == ["pool cancelled"])
    }

    @Test func `a cancellation signal cancels at once`() async throws {
        let services = [obedient("pool"), stubborn("worker") { kill(getpid(), SIGINT) }]
        let group = ServiceGroup(services: services, cancellationSignals: [.sigint], logger: logger)
        await #expect(throws: CancellationError.self) { try await group.run() }
        #expect(Set(recorded) == ["pool cancelled", "worker cancelled"])
    }

    @Test func `a shutdown that takes too long is cancelled`() async throws {
        let services = [obedient("pool"), stubborn("worker") { kill(getpid(), SIGTERM) }]
        let group = ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm],
            maximumGracefulShutdownDuration: .milliseconds(20), logger: logger)
        await #expect(throws: CancellationError.self) { try await group.run() }
        #expect(recorded.first == "worker asked")
        #expect(Set(recorded.dropFirst()) == ["pool cancelled", "worker cancelled"])
    }

    @Test func `nobody listens to a signal after the group`() async throws {
        let services = [obedient("worker") { kill(getpid(), SIGTERM) }]
        try await ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm], logger: logger).run()
        var action = sigaction()
        sigaction(SIGTERM, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil)
    }

    @Test func `what a service throws ends the group and cancels the others`() async throws {
        let faulty = Closure { throw Fault() }
        let group = ServiceGroup(services: [obedient("pool"), faulty, obedient("worker")], logger: logger)
        await #expect(throws: Fault.self) { try await group.run() }
        #expect(Set(recorded) == ["pool cancelled", "worker cancelled"])
    }

    @Test func `a service that returns unasked is a fault`() async throws {
        let group = ServiceGroup(services: [obedient("pool"), Closure {}], logger: logger)
        let expected = ServiceGroupError(code: .serviceFinishedUnexpectedly, service: "Closure")
        await #expect(throws: expected) { try await group.run() }
        #expect(recorded == ["pool cancelled"])
    }

    @Test func `a service may end the group gracefully, or be let go`() async throws {
        let configuration = ServiceGroupConfiguration(
            services: [
                .init(service: obedient("pool")), .init(service: obedient("worker")),
                .init(service: Closure {}, successTerminationBehavior: .ignore),
                .init(service: Closure {}, successTerminationBehavior: .gracefullyShutdownGroup),
            ], logger: logger)
        try await ServiceGroup(configuration: configuration).run()
        #expect(recorded == ["worker shut down", "pool shut down"])
    }

    @Test func `waiting cut short by a shutdown is no fault`() async throws {
        let waiting = Closure {
            kill(getpid(), SIGTERM)
            try await cancelWhenGracefulShutdown { try await gracefulShutdown() }
            try await cancelWhenGracefulShutdown {
                await Wakeup().wait(until: .now + .seconds(3600))
                try Task.checkCancellation()
            }
        }
        try await ServiceGroup(
            services: [obedient("pool"), waiting], gracefulShutdownSignals: [.sigterm], logger: logger
        ).run()
        #expect(recorded == ["pool shut down"])
    }

    @Test func `a group within a group shuts down with it`() async throws {
        let inner = ServiceGroup(services: [obedient("inner 1"), obedient("inner 2")], logger: logger)
        let outer = ServiceGroup(
            services: [obedient("outer"), inner, obedient("last") { kill(getpid(), SIGTERM) }],
            gracefulShutdownSignals: [.sigterm], logger: logger)
        try await outer.run()
        #expect(
            recorded == ["last shut down", "inner 2 shut down", "inner 1 shut down", "outer shut down"])
    }

    @Test func `a group can be asked from within the process`() async throws {
        let group = ServiceGroup(services: [obedient("pool"), obedient("worker")], logger: logger)
        async let run: Void = group.run()
        await group.triggerGracefulShutdown()
        try await run
        #expect(recorded == ["worker shut down", "pool shut down"])
    }

    @Test func `cancelling the group cancels its services`() async throws {
        let group = ServiceGroup(services: [obedient("pool"), obedient("worker")], logger: logger)
        await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.cancelAll()
            await #expect(throws: CancellationError.self) { try await tasks.waitForAll() }
        }
        #expect(Set(recorded) == ["pool cancelled", "worker cancelled"])
    }

    private struct Fault: Error {}
}

private struct Closure: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws { try await body() }
}

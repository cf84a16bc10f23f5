import Delivery
import Domain
import HTTP2
import Logging
import ServiceLifecycle
import Threading
import Transports

/// Builds the transport of each credential when the first batch needs it, and keeps its background work running.
actor TransportHost: TransportDirectory, Service {
    private let settings: TransportSettings
    private let tokens: any AccessTokenStore
    private let worker: WorkerID
    private let logger: Logger
    private var transports: [CredentialReference: FCMTransport] = [:]
    private nonisolated let started = AsyncStream.makeStream(of: FCMTransport.self)

    struct TransportSettings: Sendable {
        var trust: TLSTrust
        var connections: Int
        var streamsPerConnection: Int
    }

    init(settings: TransportSettings, tokens: any AccessTokenStore, worker: WorkerID, logger: Logger) {
        self.settings = settings
        self.tokens = tokens
        self.worker = worker
        self.logger = logger
    }

    func run() async throws {
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                for await transport in started.stream { group.addTask { await transport.run() } }
            } onGracefulShutdown: {
                // Tokens are refreshed until the worker, which stops before this service, has closed the transports.
                self.started.continuation.finish()
            }
            group.cancelAll()
        }
    }

    func transport(for route: Route) async throws -> any Transport {
        if let known = transports[route.credential] { return known }
        let transport = try makeTransport(route.credential)
        transports[route.credential] = transport
        started.continuation.yield(transport)
        return transport
    }

    func close(by deadline: ContinuousClock.Instant) async {
        for transport in transports.values { await transport.close(by: deadline) }
        started.continuation.finish()
    }
}

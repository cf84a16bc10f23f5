import Delivery
import Domain
import Logging
import ServiceLifecycle
import Threading
import Transports

/// Builds the transport of each credential when the first batch needs it, and keeps its background work running.
actor TransportHost: TransportDirectory, Service {
    let settings: TransportSettings
    let tokens: any AccessTokenStore
    let worker: WorkerID
    let logger: Logger
    private var transports: [CredentialReference: FCMTransport] = [:]
    private nonisolated let started = AsyncStream.makeStream(of: FCMTransport.self)

    /// How providers are reached.
    struct TransportSettings: Sendable {
        /// PEM certificates to trust instead of the system's.
        var trustFile: String?
        var connections: Int
        var streamsPerConnection: Int
    }

    init(settings: TransportSettings, tokens: any AccessTokenStore, worker: WorkerID, logger: Logger) {
        self.settings = settings
        self.tokens = tokens
        self.worker = worker
        self.logger = logger
    }

    /// Keeps each transport's access token fresh until the worker, which stops before this service, has closed them.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            await withGracefulShutdownHandler {
                for await transport in started.stream { group.addTask { await self.keep(transport) } }
            } onGracefulShutdown: {
                self.started.continuation.finish()
            }
            group.cancelAll()
        }
    }

    private nonisolated func keep(_ transport: FCMTransport) async {
        do {
            try await transport.run()
        } catch {
            if !(error is CancellationError) {
                logger.error("transport stopped", metadata: ["error": "\(error)"])
            }
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

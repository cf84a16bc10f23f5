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
    private var transports: [Way: any HostedTransport] = [:]
    private nonisolated let started = AsyncStream.makeStream(of: (any HostedTransport).self)

    /// What shares connections: a credential, and for Web Push the push service.
    private struct Way: Hashable {
        let credential: CredentialReference
        let service: Int16
    }

    /// How providers are reached.
    struct TransportSettings: Sendable {
        /// PEM certificates to trust instead of the system's.
        var trustFile: String?
        var connections: Int
        var streamsPerConnection: Int
        /// Where Web Push may go.
        var egress = EgressSettings()
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

    private nonisolated func keep(_ transport: any HostedTransport) async {
        do {
            try await transport.run()
        } catch {
            if !(error is CancellationError) {
                logger.error("transport stopped", metadata: ["error": "\(error)"])
            }
        }
    }

    func transport(for route: Route) async throws -> any Transport {
        let way = Way(credential: route.credential, service: route.service)
        if let known = transports[way] { return known }
        let transport = try makeTransport(route)
        transports[way] = transport
        started.continuation.yield(transport)
        return transport
    }

    /// - Throws: `TransportUnavailable` naming what is wrong with the credential's file or endpoint.
    private func makeTransport(_ route: Route) throws -> any HostedTransport {
        switch route.transport {
        case .fcm: return try makeFCM(route.credential)
        case .apns: return try makeAPNs(route.credential)
        case .webpush: return try makeWebPush(route)
        }
    }

    func close(by deadline: ContinuousClock.Instant) async {
        for transport in transports.values { await transport.close(by: deadline) }
        started.continuation.finish()
    }
}

/// A transport with background work of its own: keeping a token fresh, watching a key file.
protocol HostedTransport: Transport {
    /// Works until its task is cancelled.
    func run() async throws
}

extension FCMTransport: HostedTransport {}
extension WebPushTransport: HostedTransport {}

import Crypto
import Delivery
import Domain
import FoundationEssentials
import HTTP2
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
    private var transports: [Way: any HostedTransport] = [:] {
        didSet { shown.withLock { [transports] in $0 = Array(transports.values) } }
    }
    /// The same, for those that look from outside and cannot wait.
    private nonisolated let shown = Locked<[any HostedTransport]>([])
    private var fingerprints: [Way: [UInt8]] = [:]
    private nonisolated let started = AsyncStream.makeStream(of: Started.self)

    /// A transport, and when its background work ends: with this stream.
    private struct Started: Sendable {
        let transport: any HostedTransport
        let isWanted: AsyncStream<Never>
    }
    private var wanted: [Way: AsyncStream<Never>.Continuation] = [:]

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
                for await started in started.stream { group.addTask { await self.keep(started) } }
            } onGracefulShutdown: {
                self.started.continuation.finish()
            }
            group.cancelAll()
        }
    }

    private nonisolated func keep(_ started: Started) async {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await started.transport.run() }
                group.addTask { for await _ in started.isWanted {} }
                try await group.next()
                group.cancelAll()
            }
        } catch {
            if !(error is CancellationError) {
                logger.error("transport stopped", metadata: ["error": "\(error)"])
            }
        }
    }

    func transport(for route: Route) async throws -> any Transport {
        var credential = route.credential
        credential.faultFingerprint = nil
        let way = Way(credential: credential, service: route.service)
        if let known = transports[way] { return known }
        let fingerprint = fingerprint(of: route.credential)
        let transport = try makeTransport(route)
        retire(route.credential.id, before: route.credential.revision)
        transports[way] = transport
        fingerprints[way] = fingerprint
        let (isWanted, end) = AsyncStream.makeStream(of: Never.self)
        wanted[way] = end
        started.continuation.yield(Started(transport: transport, isWanted: isWanted))
        return transport
    }

    /// A credential was mended: what was made of its earlier file ends when the batches that hold it do.
    private func retire(_ credential: Credential.ID, before revision: Int32) {
        for way in transports.keys where way.credential.id == credential && way.credential.revision < revision {
            transports[way] = nil
            fingerprints[way] = nil
            wanted.removeValue(forKey: way)?.finish()
        }
    }

    func fingerprint(of credential: CredentialReference) -> [UInt8] {
        guard let file = FileManager.default.contents(atPath: credential.file) else { return [] }
        return Array(SHA256.hash(data: Array(file)).prefix(16))
    }

    func usedFingerprint(of credential: CredentialReference) -> [UInt8]? {
        fingerprints.first {
            $0.key.credential.id == credential.id && $0.key.credential.revision == credential.revision
        }?
        .value
    }

    /// - Throws: `TransportUnavailable` naming what is wrong with the credential's file or endpoint.
    private func makeTransport(_ route: Route) throws -> any HostedTransport {
        switch route.transport {
        case .fcm: return try makeFCM(route.credential)
        case .apns: return try makeAPNs(route.credential)
        case .webpush: return try makeWebPush(route)
        }
    }

    /// How the connections to all providers stand, whoever asks.
    nonisolated var traffic: [(kind: TransportKind, statistics: HTTP2ClientStatistics)] {
        shown.withLock { $0 }.flatMap { transport in transport.traffic.map { (transport.kind, $0) } }
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
    var kind: TransportKind { get }
    /// How the connections of each of its clients stand.
    var traffic: [HTTP2ClientStatistics] { get }
}

extension FCMTransport: HostedTransport {
    var kind: TransportKind { .fcm }
}

extension WebPushTransport: HostedTransport {
    var kind: TransportKind { .webpush }
}

import Delivery
import Domain
import Logging
import ServiceLifecycle
import Threading

enum Fixture {
    static let shard = Shard(rawValue: 0)
    static let run = Run.ID(7)
    static let now = Instant(microseconds: 1_790_000_000_000_000)
    static let logger = Logger(label: "delivery-tests") { TextLogHandler(label: $0, logLevel: .critical) }

    static let content = ContentVersion(
        id: ContentVersion.ID(1),
        message: Message(
            variants: [
                Variant(
                    language: "en", title: Template(segments: [.literal("Hi")]),
                    body: Template(segments: [.literal("there")]), image: nil, url: nil, actions: [])
            ], defaultVariant: 0, presentation: Presentation(), data: [], silent: false),
        delivery: DeliveryOptions())

    static func route(_ transport: TransportKind) -> Route {
        Route(
            id: Route.ID(Int64(transport.rawValue)), app: App.ID(1), transport: transport, service: 0, state: .open,
            credential: CredentialReference(
                id: Credential.ID(1), app: App.ID(1), name: "firebase", transport: transport, file: "/key.json",
                endpoint: nil))
    }

    static func batch(
        _ id: Int64 = 1, size: Int, lapses: Int16 = 0, announced: Int? = nil, window: Int = 5000,
        on transport: TransportKind = .fcm
    ) -> ClaimedBatch {
        ClaimedBatch(
            shard: shard, id: Batch.ID(id), run: run, route: route(transport).id, bucket: 1, epoch: 1, size: size,
            announced: announced ?? size,
            marked: OrdinalSet(bytes: [UInt8](repeating: 0, count: (size + 7) / 8), count: size),
            lapses: lapses, contentVersion: content.id, expiresAt: now + .seconds(3600), policy: .retry,
            announceWindow: window)
    }

    static func jobs(_ count: Int, from number: Int64 = 100, on transport: TransportKind = .fcm) -> [PushJob] {
        (0..<count).map { job(Int16($0), number: number + Int64($0), recipient: recipient(transport)) }
    }

    static func job(_ ordinal: Int16, number: Int64? = nil, recipient: Recipient?) -> PushJob {
        PushJob(
            ordinal: ordinal, number: number ?? 100 + Int64(ordinal), subscriber: Subscriber.ID(Int64(ordinal) + 1),
            attempts: 0, contentVersion: nil, expiresAt: nil, recipient: recipient)
    }

    static func recipient(_ transport: TransportKind = .fcm, state: SubscriberState = .active) -> Recipient {
        Recipient(
            transport: transport, service: 0, state: state, address: Address(text: "token"), addressVersion: 1,
            language: "en", values: [])
    }

    /// Runs a worker while `body` does, then shuts it down as SIGTERM does, and waits for its end.
    static func withWorker(
        _ store: ScriptedStore, _ transport: ScriptedTransport?, _ configuration: WorkerConfiguration = .init(),
        others: [TransportKind: ScriptedTransport] = [:], lane: (any LaneStore)? = nil,
        _ body: (GracefulShutdownTestTrigger) async throws -> Void
    ) async throws {
        let worker = Worker(
            identity: WorkerID("00000000-0000-0000-0000-000000000001"), store: store, lane: lane,
            transports: ScriptedDirectory(transport: transport, others: others), configuration: configuration,
            logger: logger)
        try await testGracefulShutdown { trigger in
            async let run: Void = worker.run()
            try await body(trigger)
            trigger.triggerGracefulShutdown()
            try await run
        }
    }

    /// Waits for something that another thread brings about, leaving the cores to it between two looks. The suite's time
    /// limit ends it otherwise.
    static func until(_ condition: () -> Bool) async {
        let look = Wakeup()
        while !condition(), !Task.isCancelled { await look.wait(until: .now + .milliseconds(1)) }
    }
}

extension ScriptedStore {
    func add(_ batch: ClaimedBatch, _ jobs: [PushJob]) { state.withLock { $0.waiting.append((batch, jobs)) } }
    var flushes: [Flush] { state.withLock { $0.flushes } }
    var handBacks: [HandBack] { state.withLock { $0.handBacks } }
}

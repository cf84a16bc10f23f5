import Domain
import Logging
import ServiceLifecycle
import Testing
import Threading

@testable import Delivery

/// What becomes of answers that the database does not take.
@Suite(.timeLimit(.minutes(1))) struct UnrecordedTests {
    @Test func `what was answered and could not be recorded is handed back as begun`() async throws {
        let store = RefusingStore()
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .milliseconds(100)
        let worker = Worker(
            identity: WorkerID("00000000-0000-4000-8000-000000000001"), store: store,
            transports: Transports(capacity: 100),
            configuration: configuration,
            logger: Logger(label: "test") { TextLogHandler(label: $0, logLevel: .critical) })
        try await testGracefulShutdown { shutdown in
            store.onRefusal.withLock { $0 = { shutdown.triggerGracefulShutdown() } }
            try await worker.run()
        }
        #expect(store.handedBack.withLock { $0 } == [3])
    }

    @Test func `nothing of a batch is begun while its hand-back is under way`() async throws {
        let (store, transports) = (RefusingStore(), Transports(capacity: 0))
        var configuration = WorkerConfiguration()
        configuration.patience = .milliseconds(100)
        configuration.drainLimit = .milliseconds(100)
        let worker = Worker(
            identity: WorkerID("00000000-0000-4000-8000-000000000001"), store: store, transports: transports,
            configuration: configuration,
            logger: Logger(label: "test") { TextLogHandler(label: $0, logLevel: .critical) })
        try await testGracefulShutdown { shutdown in
            store.duringHandBack.withLock {
                $0 = {
                    // Room for all of them, and the loop that begins jobs turns every 200 ms.
                    transports.room.withLock { $0 = 100 }
                    await transports.sent.wait(until: .now + .seconds(1))
                    shutdown.triggerGracefulShutdown()
                }
            }
            try await worker.run()
        }
        #expect(store.handedBack.withLock { $0 } == [0])
        #expect(transports.count.withLock { $0 } == 0)
    }
}

/// Gives out one batch of three jobs, answers pulses and takes no outcome.
private final class RefusingStore: BatchStore {
    struct Refusal: Error {}

    let onRefusal = Locked<@Sendable () -> Void>({})
    /// The `begun` of each hand-back.
    let handedBack = Locked<[Int]>([])
    let duringHandBack = Locked<@Sendable () async -> Void>({})
    private let isClaimed = Locked(false)
    private let shard = Shard(rawValue: 0)
    private let pair = Pair(run: Run.ID(1), route: Route.ID(1))

    func enlist(_ worker: WorkerID, lease: Duration) {}
    func shards() -> [Shard] { [shard] }
    func heads(of shard: Shard, lane: Lane, without sated: Sated) -> [Pair] { lane == .campaign ? [pair] : [] }

    func claim(shard: Shard, worker: WorkerID, claimNumber: Int32, pairs: [Pair]) -> ClaimedBatch? {
        let isFirst = isClaimed.withLock { claimed in
            defer { claimed = true }
            return !claimed
        }
        guard isFirst else { return nil }
        return ClaimedBatch(
            shard: shard, id: Batch.ID(1), run: pair.run, route: pair.route, bucket: 1, epoch: 1, size: 3, announced: 3,
            marked: OrdinalSet(bytes: [0], count: 3), lapses: 0, contentVersion: ContentVersion.ID(1),
            expiresAt: Instant(microseconds: .max), policy: .retry, announceWindow: 3)
    }

    func reserve(_ batch: ClaimedBatch, worker: WorkerID) -> [Int16: Withheld] { [:] }

    func jobs(of batch: ClaimedBatch, attributes names: [String]) -> [PushJob] {
        (0..<3).map { ordinal in
            PushJob(
                ordinal: ordinal, number: Int64(ordinal), subscriber: Subscriber.ID(Int64(ordinal)), attempts: 0,
                contentVersion: nil, expiresAt: nil,
                recipient: Recipient(
                    transport: .fcm, service: 0, state: .active, address: Address(text: "a", environment: .unknown),
                    addressVersion: 1, language: nil, values: []))
        }
    }

    func flush(_ flush: Flush, worker: WorkerID, lease: Duration) throws -> [Flush.State] {
        guard flush.items.isEmpty else {
            onRefusal.withLock { $0 }()
            throw Refusal()
        }
        return flush.held.map {
            Flush.State(batch: $0.batch, state: .leased, announced: $0.announce, run: .running, route: .open)
        }
    }

    func handBack(_ batch: ClaimedBatch, begun: Int, notBefore: Duration?, worker: WorkerID) async {
        handedBack.withLock { $0.append(begun) }
        let action = duringHandBack.withLock { $0 }
        await action()
    }

    func contentVersion(_ id: ContentVersion.ID) throws -> ContentVersion {
        ContentVersion(
            id: id,
            message: try MessageReader.message(
                from: #"{"content": {"en": {"title": "Hi", "body": "Hi"}, "_default": "en"}}"#),
            delivery: DeliveryOptions())
    }

    func route(_ id: Route.ID) -> Route? {
        Route(
            id: id, app: App.ID(1), transport: .fcm, service: 0, state: .open,
            credential: CredentialReference(
                id: Credential.ID(1), app: App.ID(1), name: "firebase", transport: .fcm, file: "/none", endpoint: nil))
    }

    func route(app: App.ID, transport: TransportKind, service: Int16) -> Route? { nil }
    func takeSlots(for pair: Pair, wanted: Int, ahead: Duration) -> SlotGrant { .unlimited }
    func slow(_ route: Route.ID, begun: Int, for span: Duration) {}
    func trip(_ route: Route.ID, reason: Reason) -> Duration? { nil }
    func endTrial(of route: Route.ID) {}
    func pause(credential: Credential.ID, fault: CredentialFault) {}
    func pausedCredentials() -> [CredentialReference] { [] }
    func mend(_ credential: CredentialReference) -> Bool { false }
    func pause(run: Run.ID, reason: Reason, detail: String) -> Bool { false }
    func weigh(_ answers: [AddressAnswer], in shard: Shard) {}
    func correctEnvironments(_ proven: [ProvenEnvironment], in shard: Shard) {}
    func now() -> Instant { Instant(microseconds: 0) }
}

/// Delivers everything at once, while there is room.
private final class Transports: TransportDirectory, Transport {
    struct Message: PreparedMessage {}

    let room: Locked<Int>
    let count = Locked(0)
    let sent = Wakeup()

    init(capacity: Int) { room = Locked(capacity) }

    var capacity: Int { room.withLock { $0 } }

    func transport(for route: Route) -> any Transport { self }
    func fingerprint(of credential: CredentialReference) -> [UInt8] { [1] }
    func usedFingerprint(of credential: CredentialReference) -> [UInt8]? { [1] }
    func prepare(_ content: ContentVersion) -> any PreparedMessage { Message() }

    func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink
    ) {
        count.withLock { $0 += jobs.count }
        sent.signal()
        sink(jobs.map { SendResult(ticket: $0.ticket, fate: .answered(.delivered(messageID: nil)), status: 200) })
    }

    func close(by deadline: ContinuousClock.Instant) {}
}

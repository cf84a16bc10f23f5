import Domain
import Threading

/// A queue of prepared batches that keeps the rules of the real one, as far as a worker can see them: it marks each
/// ordinal once, closes a batch whose ordinals are all marked, and answers only for what the worker still holds.
final class ScriptedStore: BatchStore {
    struct HandBack: Equatable {
        var batch: Batch.ID
        var begun: Int
        var notBefore: Duration?
    }

    struct State: Sendable {
        var waiting: [(batch: ClaimedBatch, jobs: [PushJob])] = []
        var held: [Batch.ID: ClaimedBatch] = [:]
        /// First word on each ordinal; later ones change nothing.
        var recorded: [Batch.ID: [Int16: Flush.Item]] = [:]
        var jobs: [Batch.ID: [PushJob]] = [:]
        var withheld: [Int16: Withheld] = [:]
        var flushes: [Flush] = []
        var handBacks: [HandBack] = []
        var pauses: [Reason] = []
        var faults: [CredentialFault] = []
        var slowed: [Duration] = []
        var trips: [Reason] = []
        var run = RunStatus.running
        var route = RouteState.open
        var slots = SlotGrant.unlimited
        var runPauses: [String] = []
        var answers: [AddressAnswer] = []
        var proven: [ProvenEnvironment] = []
        var routes: [TransportKind: Route] = [:]
        var content = Fixture.content
    }

    let state = Locked(State())
    /// Called with each flush before it takes effect, and how many came before it; may wait or throw.
    let beforeFlush: @Sendable (Int, Flush) async throws -> Void
    /// Called after it took effect: throwing here is a reply that was lost.
    let afterFlush: @Sendable (Int, Flush) async throws -> Void
    /// Called before a hand-back takes effect; may throw.
    let beforeHandBack: @Sendable (ClaimedBatch) async throws -> Void
    /// Called before a claim takes effect.
    let beforeClaim: @Sendable () async throws -> Void
    /// Called before the jobs of a batch are read; may throw.
    let beforeRead: @Sendable () async throws -> Void
    /// Called before what is no claim, flush or hand-back takes effect; may wait or throw.
    let beforeChore: @Sendable () async throws -> Void

    init(
        beforeFlush: @escaping @Sendable (Int, Flush) async throws -> Void = { _, _ in },
        afterFlush: @escaping @Sendable (Int, Flush) async throws -> Void = { _, _ in },
        beforeHandBack: @escaping @Sendable (ClaimedBatch) async throws -> Void = { _ in },
        beforeClaim: @escaping @Sendable () async throws -> Void = {},
        beforeRead: @escaping @Sendable () async throws -> Void = {},
        beforeChore: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.beforeFlush = beforeFlush
        self.afterFlush = afterFlush
        self.beforeHandBack = beforeHandBack
        self.beforeClaim = beforeClaim
        self.beforeRead = beforeRead
        self.beforeChore = beforeChore
        state.withLock { $0.routes[.fcm] = Fixture.route(.fcm) }
    }

    var items: [Flush.Item] {
        state.withLock { $0.recorded.values.flatMap(\.values).sorted { $0.ordinal < $1.ordinal } }
    }

    func enlist(_ worker: WorkerID, lease: Duration) async throws {}
    func shards() async throws -> [Shard] { [Fixture.shard] }
    func now() async throws -> Instant { Fixture.now }

    func heads(of shard: Shard, lane: Lane, without sated: Sated) async throws -> [Pair] {
        guard lane == .campaign else { return [] }
        let pairs = state.withLock { Set($0.waiting.map { Pair(run: $0.batch.run, route: $0.batch.route) }) }
        return pairs.filter { !sated.contains($0) }
    }

    func claim(shard: Shard, worker: WorkerID, claimNumber: Int32, pairs: [Pair]) async throws -> ClaimedBatch? {
        try await beforeClaim()
        return state.withLock { state in
            let index = state.waiting.firstIndex { pairs.contains(Pair(run: $0.batch.run, route: $0.batch.route)) }
            guard let index else { return nil }
            let (batch, jobs) = state.waiting.remove(at: index)
            state.held[batch.id] = batch
            state.jobs[batch.id] = jobs
            return batch
        }
    }

    func jobs(of batch: ClaimedBatch, attributes names: [String]) async throws -> [PushJob] {
        try await beforeRead()
        return state.withLock { $0.jobs[batch.id] ?? [] }
    }

    func reserve(_ batch: ClaimedBatch, worker: WorkerID) async throws -> [Int16: Withheld] {
        state.withLock { $0.withheld }
    }

    func flush(_ flush: Flush, worker: WorkerID, lease: Duration) async throws -> [Flush.State] {
        let number = state.withLock { state in
            state.flushes.append(flush)
            return state.flushes.count - 1
        }
        try await beforeFlush(number, flush)
        let answer = state.withLock { take(flush, &$0) }
        try await afterFlush(number, flush)
        return answer
    }

    private func take(_ flush: Flush, _ state: inout State) -> [Flush.State] {
        for item in flush.items where state.held[item.batch] != nil {
            if state.recorded[item.batch]?[item.ordinal] == nil {
                state.recorded[item.batch, default: [:]][item.ordinal] = item
            }
        }
        return flush.held.compactMap { named in
            guard let batch = state.held[named.batch], batch.epoch == named.epoch else { return nil }
            let isDone = state.recorded[batch.id]?.count == batch.size
            if isDone { state.held[batch.id] = nil }
            var answer = Flush.State(
                batch: batch.id, state: isDone ? .done : .leased,
                announced: max(named.announce, Int32(batch.announced)),
                run: state.run, route: state.route)
            answer.isPaced = batch.terms.isPaced
            return answer
        }
    }

    func handBack(_ batch: ClaimedBatch, begun: Int, notBefore: Duration?, worker: WorkerID) async throws {
        try await beforeHandBack(batch)
        state.withLock { state in
            state.held[batch.id] = nil
            state.handBacks.append(HandBack(batch: batch.id, begun: begun, notBefore: notBefore))
        }
    }

    func contentVersion(_ id: ContentVersion.ID) async throws -> ContentVersion {
        state.withLock { $0.content }
    }

    func route(_ id: Route.ID) async throws -> Route? { state.withLock { $0.routes.values.first { $0.id == id } } }

    func route(app: App.ID, transport: TransportKind, service: Int16) async throws -> Route? {
        state.withLock { $0.routes[transport] }
    }

    func pause(run: Run.ID, reason: Reason, detail: String) async throws -> Bool {
        state.withLock { state in
            state.run = .paused
            state.runPauses.append(detail)
        }
        return true
    }

    func weigh(_ answers: [AddressAnswer], in shard: Shard) async throws {
        try await beforeChore()
        state.withLock { $0.answers += answers }
    }

    func correctEnvironments(_ proven: [ProvenEnvironment], in shard: Shard) async throws {
        try await beforeChore()
        state.withLock { $0.proven += proven }
    }

    func pause(credential: Credential.ID, fault: CredentialFault) async throws {
        try await beforeChore()
        state.withLock { state in
            state.pauses.append(fault.reason)
            state.faults.append(fault)
        }
    }

    func takeSlots(for pair: Pair, wanted: Int, ahead: Duration) async throws -> SlotGrant {
        state.withLock { $0.slots }
    }
    func slow(_ route: Route.ID, begun: Int, for span: Duration) async throws {
        try await beforeChore()
        state.withLock { $0.slowed.append(span) }
    }
    func trip(_ route: Route.ID, reason: Reason) async throws -> Duration? {
        try await beforeChore()
        state.withLock { $0.trips.append(reason) }
        return .seconds(5)
    }
    func endTrial(of route: Route.ID) async throws {}
    func pausedCredentials() async throws -> [CredentialReference] { [] }
    func mend(_ credential: CredentialReference) async throws -> Bool { false }
}

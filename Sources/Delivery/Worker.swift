import Domain
import Logging
import ServiceLifecycle
import Threading

/// Claims batches, sends their jobs and records what became of each.
///
/// Loops share the state of one actor and touch it only between awaits: one claims ahead of need, one takes results as
/// transports report them, one flushes outcomes and beats the pulse, others do what no heartbeat may wait for. Nothing
/// of value lives here alone: what is not recorded is found again by whoever holds the batch next.
package actor Worker: Service {
    let store: any BatchStore
    let lane: (any LaneStore)?
    let transports: any TransportDirectory
    let configuration: WorkerConfiguration
    let checkpoints: Checkpoints
    let metrics: any DeliveryMetrics
    var logger: Logger
    package nonisolated let identity: WorkerID
    let clock = ContinuousClock()

    // Results cross from the transports' threads in one locked array.
    let arrivals = Locked<[SendResult]>([])
    let arrived = Wakeup()
    let flushWanted = Wakeup()
    let flushRest = Wakeup()
    let claimWanted = Wakeup()
    /// Waits after a claim that found nothing: the end cuts it short, and room for a route that it left out.
    let claimRest = Wakeup()
    /// Routes that the last look for work left out, as enough of each was read ahead.
    var leftOut: Set<Route.ID> = []
    let slotsWanted = Wakeup()
    let paceWanted = Wakeup()
    let credentialsWanted = Wakeup()
    let collectWanted = Wakeup()
    let choresWanted = Wakeup()
    let reportsWanted = Wakeup()

    var held: [UInt32: HeldBatch] = [:]
    /// In the order of their claims, which is the order in which their jobs begin.
    var order: [UInt32] = []
    var lastNumber: UInt32 = 0
    /// Claimed, and their jobs are being read.
    var opening: [Batch.ID: OpeningBatch] = [:]
    var returning: [Batch.ID: Chores.Returning] = [:]
    var evidence: [Shard: [AddressAnswer]] = [:]
    var environments: [Shard: [ProvenEnvironment]] = [:]
    var refusals: [Run.ID: RefusalStreak] = [:]
    var runsToPause: [Run.ID: RefusalStreak] = [:]
    var shards: [Shard: ShardState] = [:]
    /// Reads of claimed batches that failed, since the last that did not.
    var failedReads = 0
    var prepared = PreparedMessages()
    var databaseClock: DatabaseClock
    var phase = Phase.working
    var drainUntil: ContinuousClock.Instant
    /// Begun and not answered, of the batches that are held.
    var inFlight: Int { held.values.reduce(0) { $0 + $1.inFlight } }
    /// Credentials whose pause was asked for and is not confirmed yet.
    var faultyCredentials: [Credential.ID: (credential: CredentialReference, reason: Reason)] = [:]
    var routeFlows: [Route.ID: RouteFlow] = [:]
    var paces: [Pair: Pace] = [:]
    /// Uniform in 0..<1, for backoff.
    let draw: @Sendable () -> Double

    enum Phase { case working, draining, over }

    /// What a worker remembers of each shard. Confined to its actor.
    final class ShardState {
        /// Counts this worker's claims in the shard.
        var claimNumber: Int32 = 0
        /// Claims that are under way: the two lanes ask at the same time.
        var unanswered: Set<Int32> = []
        var checkedClaims: Int32 = 0
        /// Claims whose answer never came, and when they were given up.
        var givenUp: [(number: Int32, at: ContinuousClock.Instant)] = []
        var heads: [Lane: [Pair]] = [:]
        var headsReadAt: ContinuousClock.Instant?
        /// When the last answered flush was asked for: requests may begin until `freshness` after it.
        var freshSince: ContinuousClock.Instant?
        /// When that became so again, after a span in which none might begin.
        var freshAgainAt: ContinuousClock.Instant?
        var flushedAt: ContinuousClock.Instant?
    }

    /// - Parameters:
    ///   - identity: 128 random bits made by the caller at this very start.
    ///   - lane: the transactional lane; nil = this worker sends campaigns only.
    ///   - draw: uniform in 0..<1, for the jitter of retries.
    package init(
        identity: WorkerID, store: any BatchStore, lane: (any LaneStore)? = nil, transports: any TransportDirectory,
        configuration: WorkerConfiguration = WorkerConfiguration(), checkpoints: Checkpoints = .none,
        metrics: any DeliveryMetrics = NoDeliveryMetrics(),
        draw: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }, logger: Logger
    ) {
        self.identity = identity
        self.store = store
        self.lane = lane
        self.transports = transports
        self.configuration = configuration
        self.checkpoints = checkpoints
        self.metrics = metrics
        self.draw = draw
        self.logger = logger
        self.logger[metadataKey: "worker"] = "\(identity)"
        databaseClock = DatabaseClock(reading: Instant(microseconds: 0), takenAt: clock.now)
        drainUntil = clock.now
    }

    package func run() async throws {
        try await enlist()
        logger.info("worker started")
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { loops in
                loops.addTask { await self.claimLoop() }
                if let lane = self.lane { loops.addTask { await self.collectLoop(lane) } }
                loops.addTask { await self.resultLoop() }
                loops.addTask { await self.flushLoop() }
                loops.addTask { await self.choreLoop() }
                loops.addTask { await self.reportLoop() }
                loops.addTask { await self.slotLoop() }
                loops.addTask { await self.paceLoop() }
                loops.addTask { await self.credentialLoop() }
                await loops.waitForAll()
            }
            await leave()
        } onGracefulShutdown: {
            // The loops look at the task's own flag when they wake.
            self.claimWanted.signal()
            self.collectWanted.signal()
            self.arrived.signal()
            self.flushWanted.signal()
            self.claimRest.signal()
            self.credentialsWanted.signal()
        }
        logger.info("worker stopped")
    }

    /// Waits for the database if it must: a worker that starts during an outage starts when it ends.
    private func enlist() async throws {
        var wait = Duration.milliseconds(100)
        while true {
            do {
                try await store.enlist(identity, lease: configuration.lease)
                let asked = clock.now
                let reading = try await store.now()
                databaseClock = DatabaseClock(reading: reading, askedAt: asked, takenAt: clock.now)
                for shard in try await store.shards() { shards[shard] = ShardState() }
                return
            } catch {
                guard !Task.isCancelled, !Task.isShuttingDownGracefully else { throw error }
                logger.warning("waiting for the database", metadata: ["error": "\(error)"])
                await claimWanted.wait(until: clock.now + wait)
                wait = min(wait * 2, .seconds(2))
            }
        }
    }

    var isDraining: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    /// Takes results from a transport's thread.
    nonisolated var sink: ResultSink {
        { [arrivals, arrived] results in
            arrivals.withLock { $0.append(contentsOf: results) }
            arrived.signal()
        }
    }

    func remove(_ batch: HeldBatch) {
        held[batch.number] = nil
        order.removeAll { $0 == batch.number }
    }

    /// Outcomes that no answered flush has carried.
    var unrecorded: Int { held.values.reduce(0) { $0 + $1.unrecorded.count } }

    /// Jobs read and not begun, of those that could be begun as soon as their transport has room.
    var waiting: Int { held.values.reduce(0) { $0 + ($1.isLive && !$1.isPaced ? $1.waiting : 0) } }
}

import Domain
import Logging
import Loops
import ServiceLifecycle

/// Frees what dead workers held, settles what is over, and clears away what nobody needs.
///
/// Any number may run. A lapse counts only when one janitor saw it twice without losing touch with the database in
/// between, so that an outage rescues no living worker (reference: queue-rules S1-11).
package struct Janitor: Service {
    private let identity: WorkerID
    private let store: any HousekeepingStore
    private let configuration: JanitorConfiguration
    private let draw: @Sendable () -> Double
    private let markDefects: @Sendable (Int) -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - identity: fresh at this start; sightings are kept under it.
    ///   - draw: uniform in 0..<1, for jitter.
    ///   - markDefects: told of each number of low marks that lay above a ready batch, which is a defect of ours.
    package init(
        identity: WorkerID, store: any HousekeepingStore, configuration: JanitorConfiguration = JanitorConfiguration(),
        draw: @escaping @Sendable () -> Double, markDefects: @escaping @Sendable (Int) -> Void = { _ in },
        logger: Logger
    ) {
        self.identity = identity
        self.store = store
        self.configuration = configuration
        self.draw = draw
        self.markDefects = markDefects
        self.logger = logger
    }

    package func run() async throws {
        logger.info("janitor started")
        await withTaskGroup(of: Void.self) { loops in
            loops.addTask { await every(configuration.rescueTick, "rescue") { try await rescue() } }
            loops.addTask { await every(configuration.settleTick, "settlement") { try await settle() } }
            loops.addTask { await every(configuration.sweepTick, "sweep") { try await sweep() } }
            loops.addTask { await every(configuration.tokenTick, "tokens") { try await judgeTokens() } }
            loops.addTask { await every(configuration.clearTick, "clearing") { try await clear() } }
            loops.addTask { await forgetFrequencies() }
        }
        logger.info("janitor stopped")
    }

    private func every(_ span: Duration, _ name: String, _ body: () async throws -> Void) async {
        await repeating(name, logger: logger, draw: draw) {
            try await body()
            await pause(span)
        }
    }

    private func rescue() async throws {
        try await store.sight(as: identity, longestGap: configuration.longestGap)
        for shard in try await store.shards() {
            let rescued = try await store.rescue(shard: shard, span: configuration.sightingSpan)
            if rescued > 0 { logger.warning("batches rescued", metadata: ["batches": "\(rescued)"]) }
        }
    }

    private func settle() async throws {
        for shard in try await store.shards() {
            while try await store.settle(shard: shard) > 0, !Task.isShuttingDownGracefully, !Task.isCancelled {}
            try await store.raiseWatermarks(shard: shard)
        }
        _ = try await store.closeRuns()
    }

    private func sweep() async throws {
        for shard in try await store.shards() {
            let found = try await store.sweep(shard: shard)
            guard found > 0 else { continue }
            markDefects(found)
            logger.error("batches lay below the low mark", metadata: ["pairs": "\(found)"])
        }
    }

    /// - Throws: the first error, after every part had its turn: one that cannot be cleared holds up no other.
    private func clear() async throws {
        var failure: (any Error)?
        for part in [ensureDays, dropBuckets, forgetRates, forgetWorkers, clearTokens] {
            do { try await part() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func ensureDays() async throws { try await store.ensureDays() }

    private func dropBuckets() async throws {
        let dropped = try await store.dropBuckets(shards: store.shards())
        if dropped > 0 { logger.info("job partitions dropped", metadata: ["partitions": "\(dropped)"]) }
    }

    private func forgetRates() async throws {
        try await store.forgetRates(olderThan: configuration.forgetRatesAfter)
    }

    private func forgetWorkers() async throws {
        try await store.forgetWorkers(lapsedFor: configuration.forgetAfter)
    }

    private func clearTokens() async throws {
        let cleared = try await store.clearTokens(grace: configuration.tokenGrace)
        if cleared > 0 { logger.info("retired subscribers deleted", metadata: ["subscribers": "\(cleared)"]) }
    }

    /// Walks over the users under a cap, a page at a time, again and again: where it is need not outlive the process.
    private func forgetFrequencies() async {
        var place = FrequencyPlace.start
        await every(configuration.frequencyTick, "frequencies") {
            let next = try await store.forgetFrequencies(after: place, limit: configuration.frequencyPage)
            place = next ?? .start
        }
    }

    private func judgeTokens() async throws {
        let judgement = try await store.judgeTokens(hold: configuration.tokenHold)
        for wave in judgement.newWaves {
            logger.error(
                "too many answers speak against addresses; none is retired until somebody decides: pushfleet token waves",
                metadata: [
                    "credential": "\(wave.credential)", "evidence": "\(wave.evidence)",
                    "answers": "\(wave.answers)", "against": "\(wave.against)",
                ])
        }
        for run in judgement.pausedRuns {
            logger.error("run paused for a wave of dead addresses", metadata: ["run": "\(run)"])
        }
        if judgement.retired > 0 {
            logger.info("addresses retired", metadata: ["addresses": "\(judgement.retired)"])
        }
    }
}

package struct JanitorConfiguration: Sendable {
    package var rescueTick: Duration = .seconds(1)
    /// A worker is dead when its lease was seen lapsed for this long, twice or more.
    package var sightingSpan: Duration = .seconds(5)
    /// A janitor that did not look for longer than this starts its sightings anew.
    package var longestGap: Duration = .seconds(3)
    package var settleTick: Duration = .seconds(1)
    package var sweepTick: Duration = .seconds(10)
    package var clearTick: Duration = .seconds(60)
    package var forgetRatesAfter: Duration = .seconds(300)
    package var forgetAfter: Duration = .seconds(3600)
    package var frequencyTick: Duration = .seconds(10)
    /// Users under a cap that one look covers: ten million within three hours.
    package var frequencyPage: Int32 = 10_000
    package var tokenTick: Duration = .seconds(2)
    /// How long an address whose provider calls it dead is held before it is retired; longer than a wave takes to show.
    package var tokenHold: Duration = .seconds(600)
    /// How long a retired subscriber stays, so that a mistake can be undone.
    package var tokenGrace: Duration = .seconds(90 * 86_400)

    package init() {}
}

import Domain
import Logging
import Loops
import ServiceLifecycle

/// Expands due runs into jobs, page by page, and keeps the ready batches in order.
///
/// Any number may run: each statement finds out by itself that another scheduler is at it. Nothing is remembered here; a
/// scheduler that is killed leaves complete pages, and the next one goes on from the cursor.
package struct Scheduler: Service {
    private let store: any ScheduleStore
    private let configuration: SchedulerConfiguration
    private let draw: @Sendable () -> Double
    private let logger: Logger

    /// - Parameter draw: uniform in 0..<1, for jitter.
    package init(
        store: any ScheduleStore, configuration: SchedulerConfiguration = SchedulerConfiguration(),
        draw: @escaping @Sendable () -> Double, logger: Logger
    ) {
        self.store = store
        self.configuration = configuration
        self.draw = draw
        self.logger = logger
    }

    package func run() async throws {
        logger.info("scheduler started")
        await withTaskGroup(of: Void.self) { loops in
            loops.addTask {
                await repeating("expansion", logger: logger, draw: draw) {
                    if try await !expandOnce() { await store.waitForHint(atMost: configuration.idle) }
                }
            }
            loops.addTask {
                await repeating("occurrences", logger: logger, draw: draw) {
                    try await beginOccurrences()
                    await pause(configuration.occurrenceCheck)
                }
            }
            loops.addTask {
                await repeating("admission", logger: logger, draw: draw) {
                    try await admitCampaigns()
                    await pause(configuration.occurrenceCheck)
                }
            }
            loops.addTask {
                await repeating("ordering", logger: logger, draw: draw) {
                    try await keepOrder()
                    await pause(configuration.tick)
                }
            }
            loops.addTask {
                await repeating("partitions", logger: logger, draw: draw) {
                    try await store.ensureDays()
                    try await store.rotateBucketIfNeeded()
                    try await store.refreshTimeZones()
                    await pause(configuration.partitionCheck)
                }
            }
        }
        logger.info("scheduler stopped")
    }

    private func beginOccurrences() async throws {
        let begun = try await store.beginOccurrences()
        if begun == BegunOccurrences() { return }
        logger.info(
            "occurrences begun",
            metadata: [
                "begun": "\(begun.begun)", "passed_over": "\(begun.passedOver)", "released": "\(begun.released)",
            ])
    }

    private func admitCampaigns() async throws {
        let admitted = try await store.admitCampaigns()
        if admitted == AdmittedCampaigns() { return }
        logger.info("campaigns admitted", metadata: ["begun": "\(admitted.begun)", "refused": "\(admitted.refused)"])
    }

    /// One page of every run that is being expanded, so that a huge run holds up no other. Whether there was any.
    /// - Throws: the first error, after every run had its turn: one that cannot be expanded holds up no other.
    private func expandOnce() async throws -> Bool {
        var expanded = false
        var failure: (any Error)?
        for shard in try await store.shards() {
            for run in try await store.unexpandedRuns(of: shard) {
                guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return true }
                do {
                    if try await expandPage(of: run, shard) { expanded = true }
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return expanded
    }

    private func expandPage(of run: Run.ID, _ shard: Shard) async throws -> Bool {
        guard let page = try await store.expand(run: run, shard: shard, pageSize: configuration.pageSize) else {
            return false
        }
        logger.debug("page expanded", metadata: ["run": "\(run)", "targeted": "\(page.targeted)"])
        if page.complete {
            logger.info("run expanded", metadata: ["run": "\(run)", "shard": "\(shard.rawValue)"])
        }
        return true
    }

    private func keepOrder() async throws {
        let reopened = try await store.reopenRoutes()
        if reopened > 0 { logger.info("routes on trial", metadata: ["routes": "\(reopened)"]) }
        for shard in try await store.shards() {
            _ = try await store.promote(shard: shard, limit: configuration.promoteLimit)
            _ = try await store.rebatch(shard: shard, limit: configuration.rebatchLimit)
            for lane in Lane.allCases { try await store.refreshHeads(of: shard, lane: lane) }
        }
    }
}

package struct SchedulerConfiguration: Sendable {
    /// Subscribers that one page reads; a page is one transaction and takes some 0.2 s.
    package var pageSize: Int32 = 50_000
    /// Longest wait for a hint that a run is due.
    package var idle: Duration = .milliseconds(500)
    /// How late an occurrence may be found due.
    package var occurrenceCheck: Duration = .milliseconds(500)
    package var tick: Duration = .milliseconds(250)
    package var partitionCheck: Duration = .seconds(60)
    package var promoteLimit: Int32 = 500
    package var rebatchLimit: Int32 = 500

    package init() {}
}

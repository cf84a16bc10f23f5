import Domain
import Logging
import Loops
import ServiceLifecycle

/// Keeps the tallies that reports read, audits runs that closed, and clears away what is older than what is kept.
///
/// Any number may run: each step is one transaction that another one passes by.
package struct Bookkeeper: Service {
    private let store: any BookkeepingStore
    private let exporter: (any DayExporter)?
    private let configuration: BookkeeperConfiguration
    private let draw: @Sendable () -> Double
    private let logger: Logger

    /// - Parameters:
    ///   - exporter: where days go before they are dropped; nil = nowhere.
    ///   - draw: uniform in 0..<1, for jitter.
    package init(
        store: any BookkeepingStore, exporter: (any DayExporter)? = nil,
        configuration: BookkeeperConfiguration = BookkeeperConfiguration(), draw: @escaping @Sendable () -> Double,
        logger: Logger
    ) {
        self.store = store
        self.exporter = exporter
        self.configuration = configuration
        self.draw = draw
        self.logger = logger
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { loops in
            loops.addTask { await every(configuration.foldTick, "tallies") { try await fold() } }
            loops.addTask { await every(configuration.countTick, "token count") { try await store.countTokens() } }
            loops.addTask { await every(configuration.auditTick, "audit") { try await audit() } }
            loops.addTask { await every(configuration.clearTick, "retention") { try await clear() } }
        }
    }

    private func every(_ span: Duration, _ name: String, _ body: () async throws -> Void) async {
        await repeating(name, logger: logger, draw: draw) {
            try await body()
            await pause(span)
        }
    }

    private var isEnding: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    /// Once for each shard and tick: one that is behind gains ten minutes each time, and one that keeps up is not asked to
    /// count what came in while it counted.
    private func fold() async throws {
        for shard in try await store.shards() where !isEnding { _ = try await store.fold(shard: shard) }
    }

    private func audit() async throws {
        while !isEnding, let audit = try await store.auditNext() {
            guard audit.problems > 0 else { continue }
            logger.error(
                "audit found problems",
                metadata: [
                    "run": "\(audit.run)", "problems": "\(audit.problems)",
                    "see": "SELECT * FROM pushfleet.audit(\(audit.run))",
                ])
        }
    }

    private func clear() async throws {
        while try await store.forgetOld() > 0, !isEnding {}
        let days = try await store.expiredDays()
        guard !days.isEmpty else { return }
        guard try await store.mayDropDays() else {
            logger.warning(
                "old days are kept: the janitor's login does not own them",
                metadata: ["days": "\(days.count)", "remedy": "run it with --owner-database"])
            return
        }
        for day in days where !isEnding {
            if let exporter { try await exporter.export(day, from: store) }
            try await store.drop(day)
            logger.info("day dropped", metadata: ["partition": "\(day.partition)"])
        }
    }
}

/// Keeps a copy of a day's rows before they are dropped.
package protocol DayExporter: Sendable {
    /// - Throws: when the copy is not safe; the day then stays.
    func export(_ day: ExpiredDay, from store: any BookkeepingStore) async throws
}

package struct BookkeeperConfiguration: Sendable {
    package var foldTick: Duration = .seconds(2)
    package var countTick: Duration = .seconds(3600)
    package var auditTick: Duration = .seconds(10)
    package var clearTick: Duration = .seconds(300)

    package init() {}
}

import Crypto
import Delivery
import Domain
import Glibc
import Housekeeping
import Logging
import Postgres
import QueueStore
import Scheduling
import Schema
import ServiceLifecycle
import Threading

/// Puts the chosen roles together and runs them in one process.
struct Fleet {
    let options: RunCommand
    private let hooks = TestHooks()

    func run() async throws {
        try bootstrapLogging()
        let logger = Logger(label: "pushfleet")
        let database = options.database.configuration
        let control = PostgresClient(database, connections: 1, logger: logger)
        try await requireSchema(control, logger)
        let roles = Set(options.roleNames)
        var services: [any Service] = [control]
        if roles.contains("janitor") { services.append(try janitor(control, logger)) }
        if roles.contains("scheduler") {
            let pool = PostgresClient(database, connections: 2, logger: logger)
            // A pooler in transaction mode passes no notifications on: there, polling alone.
            let hints = options.database.unprepared ? nil : HintListener(database, logger: logger)
            services += [pool, scheduler(pool, hints, logger)]
        }
        if roles.contains("worker") { services += try worker(database, logger) }
        let group = ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint],
            maximumGracefulShutdownDuration: .seconds(options.drainLimit + 10), logger: logger)
        try await group.run()
    }

    /// A process that starts during an outage starts in earnest when it ends.
    private func requireSchema(_ client: PostgresClient, _ logger: Logger) async throws {
        var wait = Duration.milliseconds(200)
        while true {
            do {
                return try await SchemaCheck.require(client, logger: logger)
            } catch {
                guard let fault = error as? PostgresError, fault.isTransient else { throw error }
                logger.warning(
                    "waiting for the database",
                    metadata: ["error": "\(fault)", "remedy": "check --database, PUSHFLEET_DATABASE_URL or PG*"])
                await Wakeup().wait(until: .now + wait)
                wait = min(wait * 2, .seconds(2))
            }
        }
    }

    private func worker(_ database: PostgresConfiguration, _ logger: Logger) throws -> [any Service] {
        // A heartbeat never waits behind bulk work: flushes have a connection of their own.
        let claims = PostgresClient(database, connections: 2, logger: logger)
        let flushes = PostgresClient(database, connections: 1, logger: logger)
        let lane = PostgresClient(database, connections: 1, logger: logger)
        let identity = try randomIdentity()
        let host = TransportHost(
            settings: .init(
                trustFile: options.trustFile, connections: options.connections,
                streamsPerConnection: options.streams),
            tokens: PostgresAccessTokenStore(client: claims), worker: identity, logger: logger)
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .seconds(options.drainLimit)
        hooks.quicken(&configuration)
        let worker = Worker(
            identity: identity,
            store: PostgresBatchStore(claims: claims, flushes: flushes, checkpoints: hooks.checkpoints, logger: logger),
            lane: PostgresLaneStore(client: lane, checkpoints: hooks.checkpoints), transports: host,
            configuration: configuration, checkpoints: hooks.checkpoints, logger: logger)
        return [claims, flushes, lane, host, worker]
    }

    private func scheduler(_ pool: PostgresClient, _ hints: HintListener?, _ logger: Logger) -> Scheduler {
        Scheduler(
            store: PostgresScheduleStore(client: pool, hints: hints, checkpoints: hooks.checkpoints),
            configuration: hooks.scheduler, draw: { Double.random(in: 0..<1) }, logger: logger)
    }

    private func janitor(_ client: PostgresClient, _ logger: Logger) throws -> Janitor {
        Janitor(
            identity: try randomIdentity(),
            store: PostgresHousekeepingStore(client: client, checkpoints: hooks.checkpoints, logger: logger),
            configuration: hooks.janitor, draw: { Double.random(in: 0..<1) }, logger: logger)
    }

    /// 128 random bits, fresh at each start: never a number of the database, which a failover could issue twice.
    private func randomIdentity() throws -> WorkerID {
        let hex = try SecureRandom.bytes(16).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        var text = ""
        for (index, digit) in hex.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return WorkerID(text)
    }

    private func bootstrapLogging() throws {
        guard let level = Logger.Level(rawValue: options.logLevel) else {
            throw CommandFailure(
                "log-level: '\(options.logLevel)' is unknown; use trace, debug, info, warning or error")
        }
        let isText = options.logFormat.map { $0 == "text" } ?? (isatty(STDERR_FILENO) == 1)
        LoggingSystem.bootstrap { label in
            var handler: any LogHandler = isText ? TextLogHandler(label: label) : JSONLogHandler(label: label)
            handler.logLevel = level
            return handler
        }
    }
}

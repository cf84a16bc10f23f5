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
            services += [pool, scheduler(pool, logger)]
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
        let worker = Worker(
            identity: identity,
            store: PostgresBatchStore(claims: claims, flushes: flushes, checkpoints: checkpoints, logger: logger),
            lane: PostgresLaneStore(client: lane, checkpoints: checkpoints), transports: host,
            configuration: configuration, checkpoints: checkpoints, logger: logger)
        return [claims, flushes, lane, host, worker]
    }

    private func scheduler(_ pool: PostgresClient, _ logger: Logger) -> Scheduler {
        Scheduler(
            store: PostgresScheduleStore(client: pool, checkpoints: checkpoints),
            draw: { Double.random(in: 0..<1) }, logger: logger)
    }

    private func janitor(_ client: PostgresClient, _ logger: Logger) throws -> Janitor {
        Janitor(
            identity: try randomIdentity(),
            store: PostgresHousekeepingStore(client: client, checkpoints: checkpoints, logger: logger),
            draw: { Double.random(in: 0..<1) }, logger: logger)
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

    /// Tests name a point at which this process must die, and how often it passes it before:
    /// PUSHFLEET_DIE_AT=flush.after:3.
    private var checkpoints: Checkpoints {
        let parts = environment("PUSHFLEET_DIE_AT")?.split(separator: ":") ?? []
        guard let name = parts.first, let point = Checkpoint(rawValue: String(name)) else { return .none }
        let left = Locked(parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        return Checkpoints { reached in
            guard reached == point else { return }
            let isNow = left.withLock { left in
                left -= 1
                return left < 0
            }
            if isNow { kill(getpid(), SIGKILL) }
        }
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

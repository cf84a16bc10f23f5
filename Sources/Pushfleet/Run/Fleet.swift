import Crypto
import Delivery
import Domain
import Housekeeping
import Logging
import Postgres
import PlainHTTPServer
import Prometheus
import QueueStore
import Scheduling
import ServiceLifecycle

/// Puts the chosen roles together and runs them in one process.
struct Fleet {
    let options: RunCommand
    private let hooks = TestHooks()

    func run() async throws {
        try bootstrapLogging(level: options.logLevel, format: options.logFormat)
        let logger = Logger(label: "pushfleet")
        let database = options.database.configuration
        let control = PostgresClient(database, connections: 1, logger: logger)
        let roles = Set(options.roleNames)
        let watch = Watch(version: PushfleetCommand.version, roles: options.roleNames, logger: logger)
        var services: [any Service] = [control]
        if roles.contains("janitor") { services.append(try janitor(control, watch, logger)) }
        if roles.contains("janitor") { services += books(database, logger) + watch.gauges(database) }
        if roles.contains("scheduler") {
            let pool = PostgresClient(database, connections: 2, logger: logger)
            // A pooler in transaction mode passes no notifications on: there, polling alone.
            let hints = options.database.preparesStatements ? HintListener(database, logger: logger) : nil
            services += [pool, scheduler(pool, hints, logger)]
        }
        if roles.contains("worker") { services += try worker(database, watch, logger) }
        var outer: [any Service] = [SchemaGate(database: database, client: control, services: services, logger: logger)]
        if let port = options.httpPort {
            // Before the gate: it answers while the database is awaited, and until the last role has ended.
            let server = try watch.server(host: options.httpHost, port: UInt16(port), of: services)
            outer.insert(server, at: 0)
            logger.info("listening", metadata: ["host": "\(options.httpHost)", "port": "\(server.port)"])
        }
        let group = ServiceGroup(
            services: outer, gracefulShutdownSignals: [.sigterm, .sigint],
            maximumGracefulShutdownDuration: .seconds(options.drainLimit + 10), logger: logger)
        try await group.run()
    }

    private func worker(_ database: PostgresConfiguration, _ watch: Watch, _ logger: Logger) throws -> [any Service] {
        // A heartbeat never waits behind bulk work: flushes have a connection of their own.
        let claims = PostgresClient(database, connections: 2, logger: logger)
        let flushes = PostgresClient(database, connections: 1, logger: logger)
        let lane = PostgresClient(database, connections: 1, logger: logger)
        let identity = try randomWorkerID()
        let host = TransportHost(
            settings: .init(
                trustFile: options.trustFile, connections: options.connections,
                streamsPerConnection: options.streams, egress: try EgressSettings.fromEnvironment()),
            tokens: PostgresAccessTokenStore(client: claims), worker: identity, logger: logger)
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .seconds(options.drainLimit)
        configuration.refusalsInARow = options.refusalsInARow
        hooks.quicken(&configuration)
        let worker = Worker(
            identity: identity,
            store: PostgresBatchStore(claims: claims, flushes: flushes, checkpoints: hooks.checkpoints, logger: logger),
            lane: PostgresLaneStore(client: lane, checkpoints: hooks.checkpoints), transports: host,
            configuration: configuration, checkpoints: hooks.checkpoints, metrics: watch.delivery,
            logger: logger)
        return [claims, flushes, lane, host, worker]
    }

    private func scheduler(_ pool: PostgresClient, _ hints: HintListener?, _ logger: Logger) -> Scheduler {
        Scheduler(
            store: PostgresScheduleStore(
                client: pool, hints: hints, checkpoints: hooks.checkpoints, meter: ContentFaces()),
            configuration: hooks.scheduler, draw: { Double.random(in: 0..<1) }, logger: logger)
    }

    private func janitor(_ client: PostgresClient, _ watch: Watch, _ logger: Logger) throws -> Janitor {
        let markDefects = watch.registry.makeCounter(
            name: "pushfleet_low_mark_defects_total",
            help: "Low marks found above a ready batch, and mended; must stay 0.")
        return Janitor(
            identity: try randomWorkerID(),
            store: PostgresHousekeepingStore(client: client, checkpoints: hooks.checkpoints, logger: logger),
            configuration: hooks.janitor, draw: { Double.random(in: 0..<1) },
            markDefects: { markDefects.increment(by: Double($0)) }, logger: logger)
    }
}

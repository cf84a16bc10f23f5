import ArgumentParser
import Crypto
import Domain
import Logging
import PlainHTTPServer
import Postgres
import QueueStore
import ServiceLifecycle

struct IntakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "intake", abstract: "Serves the apps' SDKs over HTTP until SIGTERM or SIGINT.",
        discussion: """
            POST   /v1/apps/APP/installations              registers an installation or refreshes it
            DELETE /v1/apps/APP/installations/EXTERNAL_ID  erases it
            POST   /v1/apps/APP/events                     delivered, shown, opened, action, dismissed

            Speaks plain HTTP: put it behind a proxy that ends TLS. Described in Deploy/intake.openapi.yaml. Any number of
            processes may serve at once; the rate holds for each of them.

            EXAMPLE
              pushfleet app key add ferry
              pushfleet intake --http-port 8081
            """)
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Port that SDKs call; 0 takes any free one.") var httpPort = 8081
    @Option(help: "IPv4 address that the port listens on.") var httpHost = "127.0.0.1"
    @Option(help: "Port for /metrics, /livez, /readyz and /startupz; default none; 0 takes any free one.")
    var watchPort: Int?
    @Option(help: "IPv4 address that the watch port listens on.") var watchHost = "0.0.0.0"
    @Option(help: "Calls a second for each key; twice as many at once.") var rate = 200
    @Option(help: "Largest body in bytes.") var bodyLimit = 131_072
    @Option(help: "Connections to the database.") var connections = 4
    @Option(help: "trace, debug, info, notice, warning, error, critical.") var logLevel = "info"
    @Option(help: "text or json; default text on a terminal, json elsewhere.") var logFormat: String?

    func validate() throws {
        let ranges = [
            ("http-port", httpPort, 0...65_535, ""), ("watch-port", watchPort ?? 0, 0...65_535, ""),
            ("rate", rate, 1...100_000, ""), ("body-limit", bodyLimit, 1024...8_388_608, " bytes"),
            ("connections", connections, 1...64, ""),
        ]
        let faults = ranges.filter { !$0.2.contains($0.1) }.map { name, value, range, unit in
            "\(name): \(value) is out of range; use \(range.lowerBound) to \(range.upperBound)\(unit)"
        }
        guard faults.isEmpty else { throw ValidationError(faults.joined(separator: "\n")) }
    }

    func run() async throws {
        try await reportingFailures {
            try bootstrapLogging(level: logLevel, format: logFormat)
            let logger = Logger(label: "pushfleet.intake")
            let client = PostgresClient(database.configuration, connections: connections, logger: logger)
            let group = ServiceGroup(
                services: try services(client, logger), gracefulShutdownSignals: [.sigterm, .sigint],
                maximumGracefulShutdownDuration: .seconds(20), logger: logger)
            try await group.run()
        }
    }

    private func services(_ client: PostgresClient, _ logger: Logger) throws -> [any Service] {
        let watch = Watch(version: PushfleetCommand.version, roles: ["intake"], logger: logger)
        let store = IntakeStore(client)
        let intake = IntakeService(
            store: store, keyring: IntakeKeyring(rate: rate) { try await store.key(hash: $0) },
            check: SubscriberCheck(endpoints: try EgressSettings.fromEnvironment().endpoints) {
                (try? P256.Signing.PublicKey(x963Representation: $0)) != nil
            },
            registry: watch.registry, logger: logger)
        var configuration = HTTPServer.Configuration(host: httpHost, port: UInt16(httpPort))
        configuration.bodyLimit = bodyLimit
        let server = try HTTPServer(configuration, logger: logger) { await intake.answer($0) }
        logger.info("listening", metadata: ["host": "\(httpHost)", "port": "\(server.port)"])
        let inner: [any Service] = [client, EventSweeper(store: store, logger: logger)]
        // Beside the gate: while the database is awaited, calls are answered 503.
        let gate = SchemaGate(database: database.configuration, client: client, services: inner, logger: logger)
        var services: [any Service] = [gate, server]
        if let watchPort {
            let watching = try watch.server(host: watchHost, port: UInt16(watchPort), of: inner)
            logger.info("watched", metadata: ["host": "\(watchHost)", "port": "\(watching.port)"])
            services.insert(watching, at: 0)
        }
        return services
    }
}

import ArgumentParser
import Crypto
import Delivery
import Domain
import Logging
import Postgres
import QueueStore
import ServiceLifecycle

/// A worker as in the fleet, with its sending stubbed: every job is delivered the moment it is begun.
struct QueueBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "A worker that sends nothing, until SIGTERM.",
        discussion: "EXAMPLE\n  Bench queue --database URL")
    @Option(help: "PostgreSQL URL.") var database: String
    @Flag(help: "Prepare no statements.") var unprepared = false
    @Option(help: "Outcomes that start a flush.") var flushSize = 100

    func run() async throws {
        let logger = Logger(label: "bench")
        let settings = PostgresConfiguration(database, preparedStatements: !unprepared)
        let claims = PostgresClient(settings, connections: 2, logger: logger)
        let flushes = PostgresClient(settings, connections: 1, logger: logger)
        var configuration = WorkerConfiguration()
        configuration.flushSize = flushSize
        let worker = Worker(
            identity: WorkerID(try Self.identity()), store: PostgresBatchStore(claims: claims, flushes: flushes),
            transports: StubTransports(), configuration: configuration, logger: logger)
        try await ServiceGroup(
            services: [claims, flushes, worker], gracefulShutdownSignals: [.sigterm, .sigint],
            maximumGracefulShutdownDuration: .seconds(30), logger: logger
        ).run()
    }

    /// A random UUID.
    static func identity() throws -> String {
        let digits = try SecureRandom.bytes(16).flatMap { byte in
            [byte >> 4, byte & 15].map { String($0, radix: 16) }
        }
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text += digit
        }
        return text
    }
}

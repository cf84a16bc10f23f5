import ArgumentParser
import Glibc

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs roles of the fleet until SIGTERM or SIGINT.",
        discussion: """
            scheduler  expands due campaigns into jobs
            worker     claims batches, sends them and records what became of each
            janitor    frees what dead workers held, settles and clears away

            The first signal drains: nothing new is begun, answers are awaited for at most --drain-limit seconds, the rest
            is handed back at once. A second signal ends hard; what is unanswered stays doubtful, nothing is lost.

            Web Push goes to the browsers' own push services. PUSHFLEET_PUSH_HOSTS names others (*.example.net, or * for any
            public host); PUSHFLEET_PRIVATE_NETWORKS names networks besides public addresses (127.0.0.0/8).

            EXAMPLE
              pushfleet run --roles scheduler,worker,janitor
              pushfleet run --roles worker --streams 1000
            """)
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Comma-separated: scheduler, worker, janitor.") var roles = "scheduler,worker,janitor"
    @Option(help: "Connections to each provider's origin.") var connections = 4
    @Option(help: "Most requests in flight on one connection; the provider's own limit also holds.") var streams = 250
    @Option(help: "Seconds that a drain waits for answers.") var drainLimit = 20
    @Option(help: "Pause a campaign's run once so many subscribers in a row are refused alike; 0 = never.")
    var refusalsInARow = 100
    @Option(help: "CA bundle to trust besides nothing else; default PUSHFLEET_CA_FILE, then the system's.")
    var caFile: String?
    @Option(
        help: "Janitor: the owner's login, which drops old days; default PUSHFLEET_OWNER_DATABASE_URL, then its own.")
    var ownerDatabase: String?
    @Option(help: "Janitor: where days of deliveries are kept as CSV before they are dropped; default nowhere.")
    var exportDirectory: String?
    @Option(help: "Port for /metrics, /livez, /readyz and /startupz; default none; 0 takes any free one.")
    var httpPort: Int?
    @Option(help: "IPv4 address that the port listens on.") var httpHost = "0.0.0.0"
    @Option(help: "trace, debug, info, notice, warning, error, critical.") var logLevel = "info"
    @Option(help: "text or json; default text on a terminal, json elsewhere.") var logFormat: String?

    func validate() throws {
        let unknown = Set(roleNames).subtracting(["scheduler", "worker", "janitor"])
        guard unknown.isEmpty, !roleNames.isEmpty else {
            throw ValidationError("roles: '\(roles)' names no role; use scheduler, worker and janitor, comma-separated")
        }
        guard (1...64).contains(connections) else {
            throw ValidationError("connections: \(connections) is out of range; use 1 to 64")
        }
        guard (1...10_000).contains(streams) else {
            throw ValidationError("streams: \(streams) is out of range; use 1 to 10000")
        }
        guard (0...3600).contains(drainLimit) else {
            throw ValidationError("drain-limit: \(drainLimit) is out of range; use 0 to 3600 seconds")
        }
        if let httpPort, !(0...65_535).contains(httpPort) {
            throw ValidationError("http-port: \(httpPort) is out of range; use 0 to 65535")
        }
        guard (0...1_000_000).contains(refusalsInARow) else {
            throw ValidationError("refusals-in-a-row: \(refusalsInARow) is out of range; use 0 to 1000000")
        }
        if let path = caFile ?? environment("PUSHFLEET_CA_FILE"), unsafe access(path, R_OK) != 0 {
            throw ValidationError("ca-file: \(path) cannot be read; name a PEM file")
        }
        if let exportDirectory, unsafe access(exportDirectory, W_OK | X_OK) != 0 {
            throw ValidationError("export-directory: \(exportDirectory) cannot be written; make it, or name another")
        }
    }

    var ownerURL: String? { ownerDatabase ?? environment("PUSHFLEET_OWNER_DATABASE_URL") }

    var trustFile: String? { caFile ?? environment("PUSHFLEET_CA_FILE") }

    var roleNames: [String] { roles.split(separator: ",").map { String($0) } }

    func run() async throws {
        try await reportingFailures { try await Fleet(options: self).run() }
    }
}

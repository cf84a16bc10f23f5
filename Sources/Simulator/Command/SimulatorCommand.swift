import ArgumentParser
import FoundationEssentials
import HTTP2
import Logging
import ServiceLifecycle

struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushfleet-simulator",
        abstract: "Push providers on one machine: FCM with its token endpoint, and APNs, as strict as the real ones.",
        discussion: """
            Makes certificates and service account keys in the state directory, prints where they are, and answers until
            SIGTERM or SIGINT. Tokens decide their own fate by how they begin (dead-, e503-once-, stall-, …); others by
            the shares of --fault, of one provider alone with fcm- or webpush- before the name, and apns- before a reason of
            Apple's. APNs' device tokens decide theirs in hexadecimal digits, which GET /admin/apns lists. GET /admin/counts
            tells what arrived.

            Example:
              pushfleet-simulator --state /tmp/simulator --fault 'e503=0.5%,unregistered=1%' --latency 20ms±10ms
            """)

    @Option(help: "Address and port to listen on; port 0 takes any free one.")
    var listen = "127.0.0.1:0"

    @Option(help: "Directory for certificates and key files; made if missing.")
    var state: String

    @Option(help: "Project to accept sends for; may be repeated. Without any: demo.")
    var project: [String] = []

    @Option(help: "Bundle id that APNs takes.")
    var topic = "example.ferry"

    @Option(help: "Address and port that stand for Apple's sandbox; without it, any free port beside --listen.")
    var sandboxListen: String?

    @Option(help: "Decides all draws: the same seed gives the same faults to the same tokens.")
    var seed: UInt64 = 1

    @Option(help: "Time until an answer: 20ms, 20ms±10ms, or 20ms/150ms for median and 99th percentile.")
    var latency = "0ms"

    @Option(help: "Faults as shares of all sends, 'e503=0.5%,fcm-goaway=1/20000'; may be repeated.")
    var fault: [String] = []

    @Option(help: "File of changes to make while running, one a line: '@10000 e503=20%' or '30s none'.")
    var script: String?

    @Option(help: "Messages that may be sent, 600000/min or 1000/s; more are answered 429.")
    var rate: String?

    @Option(help: "Seconds in Retry-After of 429 and 503.")
    var retryAfter = 1

    @Option(help: "Seconds that an access token lives.")
    var tokenLifetime = 3599

    @Option(help: "Streams that one connection may have open.")
    var maxConcurrentStreams = 1000

    @Option(help: "Notification ids to keep for /admin/ids.")
    var keepIds = 1_000_000

    @Option(help: "File to append a line to for every send.")
    var journal: String?

    @Option(help: "File to write the line with URLs and files to, as JSON, once requests are answered.")
    var readyFile: String?

    @Flag(help: "Print that line as JSON, and log as JSON.")
    var json = false

    func validate() throws {
        _ = try Listen(parsing: listen)
        if let sandboxListen { _ = try Listen(parsing: sandboxListen) }
        guard (1...1_000_000).contains(maxConcurrentStreams) else {
            throw ValidationError("--max-concurrent-streams must be from 1 to 1000000")
        }
        guard (1...43_200).contains(tokenLifetime) else {
            throw ValidationError("--token-lifetime must be from 1 to 43200 seconds")
        }
        guard keepIds >= 0 else { throw ValidationError("--keep-ids must not be negative") }
        for project in project where project.isEmpty || !project.utf8.allSatisfy(TextRules.isLabelByte) {
            throw ValidationError("--project '\(project)' is no project id")
        }
        guard Set(project).count == project.count else { throw ValidationError("--project names one twice") }
        do { _ = try settings() } catch { throw ValidationError("\(error)") }
    }

    func run() async throws {
        LoggingSystem.bootstrap { [json] label in
            if json { JSONLogHandler(label: label) } else { TextLogHandler(label: label) }
        }
        let logger = Logger(label: "simulator")
        let service = SimulatorService(configuration: try configuration(), logger: logger) { [json] whereabouts in
            StandardStream.output.write((json ? try whereabouts.json : whereabouts.text) + "\n")
        }
        try await ServiceGroup(
            services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }

    private func settings() throws -> FaultSettings {
        var settings = FaultSettings(seed: seed)
        for change in fault { try settings.change(change) }
        try settings.change("latency=\(latency),retry-after=\(retryAfter)")
        if let rate { try settings.change("rate=\(rate)") }
        return settings
    }

    private func configuration() throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration(
            listen: try Listen(parsing: listen), stateDirectory: state, seed: seed, faults: try settings())
        if !project.isEmpty { configuration.projects = project }
        if let script {
            configuration.script = try FaultScript(parsing: String(contentsOfFile: script, encoding: .utf8))
        }
        configuration.topic = topic
        configuration.sandboxListen = try sandboxListen.map { try Listen(parsing: $0) }
        configuration.tokenLifetime = tokenLifetime
        configuration.maxConcurrentStreams = UInt32(maxConcurrentStreams)
        configuration.keptIDs = keepIds
        configuration.journal = journal
        configuration.readyFile = readyFile
        return configuration
    }
}

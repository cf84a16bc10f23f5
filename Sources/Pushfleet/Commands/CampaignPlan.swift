import ArgumentParser
import Domain
import FoundationEssentials
import QueueStore

struct CampaignPlan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Shows what a campaign would do, without doing it.",
        discussion: """
            Who would get it, by transport, language served and wave; who would be passed over and why; from when to when
            it would send at the limits that are set; what it weighs; whether the credentials can be used here. Large
            tables are sampled; --count counts every subscriber. Problems are listed, and end with status 2.

            EXAMPLE
              pushfleet campaign plan winter.json --count
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign file.") var file: String
    @Flag(help: "Count the audience in place of a sample.") var count = false

    func run() async throws {
        try await reportingFailures {
            let read = try CampaignReading(unweighed: file)
            let report = try await database.withClient { client in
                let store = AdminStore(client)
                var reading = read
                try await reading.complete(from: store)
                var report = PlanReport(
                    plan: try await store.plan(read.campaign, exact: count), sizes: PlanReport.sizes(of: reading))
                report.check(try await store.credentials(app: read.campaign.app))
                return report
            }
            writeOutput(output.json ? try jsonLine(report) : report.text)
            if !report.problems.isEmpty { throw ExitStatus.badInput }
        }
    }
}

/// What `campaign plan` says.
struct PlanReport: Encodable {
    struct Size: Encodable {
        let transport, language: String
        let bytes, limit: Int
    }
    struct CredentialCheck: Encodable {
        let name, transport, state: String
        let usable: Bool
    }

    var plan: AudiencePlan
    /// The largest variant of each language and transport.
    var sizes: [Size]
    var credentials: [CredentialCheck] = []
    var problems: [String] = []

    init(plan: AudiencePlan, sizes: [Size]) {
        self.plan = plan
        self.sizes = sizes
    }

    static func sizes(of reading: CampaignReading) -> [Size] {
        var largest: [String: Size] = [:]
        for (_, message) in reading.messages {
            for size in reading.sizes(of: message) {
                let row = Size(
                    transport: size.transport.name, language: size.language ?? "-", bytes: size.bytes,
                    limit: size.limit)
                let key = row.transport + " " + row.language
                if largest[key].map({ $0.bytes < row.bytes }) ?? true { largest[key] = row }
            }
        }
        return largest.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Looks at the secrets as a worker on this machine would, and at what would stop the campaign.
    mutating func check(_ known: [CredentialRecord]) {
        for credential in known {
            var usable = true
            if credential.isPaused {
                problems.append("credential \(credential.name) is paused: \(credential.reason)")
                usable = false
            }
            if let fault = Self.fault(of: credential) {
                problems.append("credential \(credential.name): \(fault)")
                usable = false
            }
            credentials.append(
                .init(
                    name: credential.name, transport: credential.transport,
                    state: credential.isPaused ? "paused" : "ok", usable: usable))
        }
        if plan.isOver == true {
            let over = AdminStore.overProblem
            problems.append("\(over.pointer): \(over.message) [\(over.code)]; \(over.remedy)")
        }
        if plan.targeted == 0 { problems.append("nobody belongs to the audience") }
        if plan.targeted > 0, plan.sent == 0 { problems.append("everybody would be skipped") }
        for size in sizes where size.bytes > size.limit {
            problems.append("\(size.language) has \(size.bytes) bytes on \(size.transport); the limit is \(size.limit)")
        }
    }

    private static func fault(of credential: CredentialRecord) -> String? {
        // A transport whose files are not read here has them read by its worker.
        guard CredentialSecret.readers[credential.transport] != nil else {
            return FileManager.default.isReadableFile(atPath: credential.file) ? nil : "its file cannot be read here"
        }
        do {
            _ = try CredentialSecret(transport: credential.transport, path: credential.file)
            return nil
        } catch {
            return "\(error)"
        }
    }

    var text: String {
        let mark = plan.exact ? "" : "about "
        var text = "audience: \(mark)\(grouped(plan.targeted)), of which \(mark)\(grouped(plan.sent)) would be sent to"
        text += plan.exact ? "\n\n" : " (from a sample; --count counts)\n\n"
        var shares = TextTable(["BY", "", "SUBSCRIBERS"], right: [2])
        let groups = [
            ("transport", plan.transports), ("language served", plan.languages), ("variant", plan.variants),
            ("skipped", plan.skipped),
        ]
        for (title, rows) in groups {
            for row in rows { shares.add([title, row.name, grouped(row.subscribers)]) }
        }
        if let deferred = plan.deferred { shares.add(["deferred", "quiet_hours", grouped(deferred)]) }
        for wave in plan.waves.prefix(50) { shares.add(["wave", wave.at, grouped(wave.subscribers)]) }
        text += shares.text + "\n"
        if plan.waves.count > 50 { text += "and \(plan.waves.count - 50) more waves\n" }
        text += "first \(plan.firstAt ?? "-"), last \(plan.lastAt ?? "as fast as workers go")"
        if let seconds = plan.seconds { text += ", \(short(.seconds(seconds)))" }
        text += "\n"
        for policy in plan.policies { text += "policy \(policy)\n" }
        var sizes = TextTable(["TRANSPORT", "LANGUAGE", "BYTES", "LIMIT"], right: [2, 3])
        for size in self.sizes { sizes.add([size.transport, size.language, "\(size.bytes)", "\(size.limit)"]) }
        text += "\n" + sizes.text + "\n"
        for credential in credentials {
            text += "credential \(credential.name) (\(credential.transport)): "
            text += credential.usable ? "can be used\n" : "cannot be used\n"
        }
        for problem in problems { text += "problem: \(problem)\n" }
        return text + (problems.isEmpty ? "no problems\n" : "")
    }
}

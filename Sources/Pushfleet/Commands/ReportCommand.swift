import ArgumentParser
import Domain
import FoundationEssentials
import QueueStore

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "What became of a campaign or a run, and the proof that it adds up.",
        discussion: "EXAMPLE\n  pushfleet report campaign 4\n  pushfleet report run 12 --audit",
        subcommands: [ReportCampaign.self, ReportRun.self, ReportShow.self, ReportAccounting.self])
}

struct ReportRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Outcomes of one run, by reason and by language served.",
        discussion: """
            `delivered` means that the provider accepted it. --audit counts the rows themselves against the batches.

            EXAMPLE
              pushfleet report run 12 --audit
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The run.") var run: Int
    @Flag(help: "Count the rows of jobs and deliveries too.") var audit = false

    func run() async throws {
        try await reportingFailures {
            let report = try await database.withClient { client in
                try await RunReport.read(Run.ID(Int64(run)), AdminStore(client), audit: audit)
            }
            writeOutput(output.json ? try jsonLine(report) : report.text)
            if !report.isSound { throw ExitStatus.failed }
        }
    }
}

struct ReportCampaign: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaign", abstract: "Outcomes of a campaign: each of its runs, oldest first.",
        discussion: """
            `delivered` means that the provider accepted it. --audit counts the rows themselves against the batches. --html
            writes a page with charts that needs no other file, to be read in a browser or printed.

            EXAMPLE
              pushfleet report campaign 4 --audit
              pushfleet report campaign 4 --html winter.html
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign.") var campaign: Int
    @Flag(help: "Count the rows of jobs and deliveries too.") var audit = false
    @Option(help: "Write a page with charts into this file instead.") var html: String?

    struct Report: Encodable {
        var campaign: Int
        /// waiting (to be checked), active, refused or over.
        var state: String
        /// Why it was refused.
        var problems: [CampaignState.Problem]
        var runs: [RunReport]
    }

    func validate() throws {
        guard html == nil || !(audit || output.json) else {
            throw ValidationError("html: not together with --json or --audit; choose one")
        }
    }

    func run() async throws {
        try await reportingFailures {
            if let html { return try await writePage(html) }
            let report = try await database.withClient { client in try await read(AdminStore(client)) }
            writeOutput(output.json ? try jsonLine(report) : text(report))
            if !report.runs.allSatisfy(\.isSound) { throw ExitStatus.failed }
        }
    }

    private func writePage(_ path: String) async throws {
        let page = try await database.withClient { client in
            let store = AdminStore(client)
            guard let figures = try await store.figures(ofCampaign: Int64(campaign)) else {
                throw CommandFailure("campaign: \(campaign) is unknown; see: pushfleet campaign list")
            }
            return CampaignPage(figures: figures, events: try await store.events(ofRuns: figures.runs.map(\.run)))
        }
        do {
            try Data(page.html.text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure("html: \(path) cannot be written; name another file", status: ExitStatus.failed)
        }
        writeOutput("wrote \(path)\n")
        if page.figures.violations > 0 { throw ExitStatus.failed }
    }

    private func read(_ store: AdminStore) async throws -> Report {
        guard let known = try await store.state(ofCampaign: Int64(campaign)) else {
            throw CommandFailure("campaign: \(campaign) is unknown; see: pushfleet campaign list")
        }
        var report = Report(campaign: campaign, state: known.state, problems: known.problems, runs: [])
        for run in try await store.runs(ofCampaign: Int64(campaign)) {
            report.runs.append(try await RunReport.read(run, store, audit: audit))
        }
        return report
    }

    private func text(_ report: Report) -> String {
        let count = report.runs.count == 1 ? "1 run" : "\(report.runs.count) runs"
        var text = "campaign \(report.campaign): \(report.state), \(count)\n"
        for problem in report.problems {
            text += "  \(problem.pointer.isEmpty ? "" : problem.pointer + ": ")\(problem.message) (\(problem.code))\n"
        }
        return text + "\n" + report.runs.map(\.text).joined(separator: "\n")
    }
}

struct ReportAccounting: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounting", abstract: "How many rows the view holds that must be empty.",
        discussion: "EXAMPLE\n  pushfleet report accounting")
    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        try await reportingFailures {
            let violations = try await database.withClient { client in try await AdminStore(client).violations() }
            writeOutput("accounting violations: \(violations)\n")
            if violations > 0 { throw ExitStatus.failed }
        }
    }
}

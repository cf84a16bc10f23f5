import ArgumentParser
import Domain
import QueueStore

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "What became of a run, and the proof that it adds up.",
        discussion: "EXAMPLE\n  pushfleet report run 12 --audit",
        subcommands: [ReportRun.self, ReportAccounting.self])
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

    struct Report: Encodable {
        var run: Int
        var status: String
        var accounting: Accounting
        var accountingViolations: Int64
        var auditProblems: [String]?
        var reasons: [Share]
        var languages: [Share]
        var pausedCredentials: [CredentialRecord]
    }

    func run() async throws {
        try await reportingFailures {
            let report = try await database.withClient { client in try await read(AdminStore(client)) }
            writeOutput(output.json ? try jsonLine(report) : text(report))
            if report.accountingViolations > 0 || report.auditProblems?.isEmpty == false { throw ExitStatus.failed }
        }
    }

    private func read(_ store: AdminStore) async throws -> Report {
        let id = Run.ID(Int64(run))
        guard let progress = try await store.progress(of: id) else {
            throw CommandFailure("run: \(run) is unknown; see: pushfleet campaign list")
        }
        return Report(
            run: run, status: "\(progress.status)", accounting: progress.accounting,
            accountingViolations: try await store.violations(),
            auditProblems: audit ? try await store.audit(id) : nil,
            reasons: try await store.reasons(of: id), languages: try await store.languages(of: id),
            pausedCredentials: try await store.pausedCredentials(of: id))
    }

    private func text(_ report: Report) -> String {
        let a = report.accounting
        var text = "run \(report.run): \(report.status)\n\n"
        var outcomes = TextTable(["OUTCOME", "REASON", "JOBS", "SHARE"], right: [2, 3])
        for share in report.reasons {
            outcomes.add([share.outcome, share.name, grouped(share.jobs), percent(share.jobs, of: a.targeted)])
        }
        var languages = TextTable(["LANGUAGE SERVED", "OUTCOME", "JOBS"], right: [2])
        for share in report.languages { languages.add([share.name, share.outcome, grouped(share.jobs)]) }
        text += outcomes.text + "\n" + languages.text + "\n"
        text += "targeted \(a.targeted) = pending \(a.pending) + leased \(a.leased) + retrying \(a.retrying)"
        text += " + delivered \(a.delivered) + failed \(a.failed) + unregistered \(a.unregistered)"
        text += " + expired \(a.expired) + cancelled \(a.cancelled) + skipped \(a.skipped) + in_doubt \(a.inDoubt)\n"
        text += "accounting violations: \(report.accountingViolations); at most \(a.repeatBound) sent twice\n"
        for each in report.pausedCredentials {
            text += "credential \(each.name) is paused: \(each.reason): \(each.detail ?? each.remedy ?? "")\n"
        }
        if let problems = report.auditProblems {
            text += problems.isEmpty ? "audit: every row is there once\n" : problems.joined(separator: "\n") + "\n"
        }
        return text
    }

    private func percent(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "-" }
        let tenths = (part * 1000 + whole / 2) / whole
        return "\(tenths / 10).\(tenths % 10) %"
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

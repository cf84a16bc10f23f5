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
        var variants: [VariantResult]
        var revisions: [RevisionResult]
        /// What was expected when the run was made.
        var plan: AudiencePlan?
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
            variants: try await store.variants(of: id), revisions: try await store.revisions(of: id),
            plan: try await store.storedPlan(of: id))
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
        text += tested(report) + compared(report)
        text += "targeted \(a.targeted) = pending \(a.pending) + leased \(a.leased) + retrying \(a.retrying)"
        text += " + delivered \(a.delivered) + failed \(a.failed) + unregistered \(a.unregistered)"
        text += " + expired \(a.expired) + cancelled \(a.cancelled) + skipped \(a.skipped) + in_doubt \(a.inDoubt)\n"
        text += "accounting violations: \(report.accountingViolations); at most \(a.repeatBound) sent twice\n"
        if let problems = report.auditProblems {
            text += problems.isEmpty ? "audit: every row is there once\n" : problems.joined(separator: "\n") + "\n"
        }
        return text
    }

    private func tested(_ report: Report) -> String {
        var text = ""
        if !report.variants.isEmpty {
            var table = TextTable(["VARIANT", "TARGETED", "DELIVERED", "SHARE", "95 % INTERVAL"], right: [1, 2, 3])
            for variant in report.variants {
                let interval = variant.deliveredShare
                table.add([
                    variant.name, grouped(variant.targeted), grouped(variant.delivered),
                    interval.map { percent($0.share) } ?? "-",
                    interval.map { percent($0.low) + " to " + percent($0.high) } ?? "-",
                ])
            }
            text += table.text + "\n"
        }
        if Set(report.revisions.map(\.revision)).count > 1 {
            var table = TextTable(["REVISION", "VARIANT", "OUTCOME", "JOBS"], right: [0, 3])
            for each in report.revisions {
                table.add(["\(each.revision)", each.variant ?? "-", each.outcome, grouped(each.jobs)])
            }
            text += table.text + "\n"
        }
        return text
    }

    /// Plan and result, side by side.
    private func compared(_ report: Report) -> String {
        guard let plan = report.plan else { return "" }
        let mark = plan.exact ? "" : "about "
        var table = TextTable(["", "PLANNED", "RESULT"], right: [1, 2])
        let skipped = plan.skipped.reduce(0) { $0 + $1.subscribers }
        table.add(["targeted", mark + grouped(plan.targeted), grouped(report.accounting.targeted)])
        table.add(["skipped", mark + grouped(skipped), grouped(report.accounting.skipped)])
        for language in Set(plan.languages.map(\.name) + report.languages.filter { $0.name != "-" }.map(\.name))
            .sorted()
        {
            let planned = plan.languages.first { $0.name == language }?.subscribers ?? 0
            let served = report.languages.filter { $0.name == language }.reduce(0) { $0 + $1.jobs }
            table.add(["language \(language)", mark + grouped(planned), grouped(served)])
        }
        return table.text + "\n"
    }

    private func percent(_ share: Double) -> String { percent(Int64((share * 10_000).rounded()), of: 10_000) }

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

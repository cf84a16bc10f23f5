import Domain
import QueueStore

/// What became of one run.
struct RunReport: Encodable {
    var run: Int64
    var status: String
    /// Why the run paused itself, or what who paused it said.
    var pausedBecause: String?
    var accounting: Accounting
    var accountingViolations: Int64
    /// nil = the rows were not counted.
    var auditProblems: [String]?
    var reasons: [Share]
    var languages: [Share]
    var transports: [Share]
    /// Of its app: why it may stand still.
    var pausedCredentials: [CredentialRecord]
    var variants: [VariantResult]
    var revisions: [RevisionResult]
    /// What was expected when the run was made.
    var plan: AudiencePlan?

    /// It adds up.
    var isSound: Bool { accountingViolations == 0 && auditProblems?.isEmpty != false }

    static func read(_ run: Run.ID, _ store: AdminStore, audit: Bool) async throws -> RunReport {
        guard let progress = try await store.progress(of: run) else {
            throw CommandFailure("run: \(run) is unknown; see: pushfleet campaign list")
        }
        return RunReport(
            run: run.rawValue, status: "\(progress.status)", pausedBecause: progress.pausedBecause,
            accounting: progress.accounting,
            accountingViolations: try await store.violations(),
            auditProblems: audit ? try await store.audit(run) : nil,
            reasons: try await store.reasons(of: run), languages: try await store.languages(of: run),
            transports: try await store.transports(of: run),
            pausedCredentials: try await store.pausedCredentials(of: run),
            variants: try await store.variants(of: run), revisions: try await store.revisions(of: run),
            plan: try await store.storedPlan(of: run))
    }

    var text: String {
        let a = accounting
        var text = "run \(run): \(status)\n"
        if let cause = pausedBecause {
            text += "paused because: \(cause); when mended: pushfleet campaign resume \(run)\n"
        }
        text += "\n"
        var outcomes = TextTable(["OUTCOME", "REASON", "JOBS", "SHARE"], right: [2, 3])
        for share in reasons {
            outcomes.add([share.outcome, share.name, grouped(share.jobs), percent(share.jobs, of: a.targeted)])
        }
        var served = TextTable(["LANGUAGE SERVED", "OUTCOME", "JOBS"], right: [2])
        for share in languages { served.add([share.name, share.outcome, grouped(share.jobs)]) }
        var ways = TextTable(["TRANSPORT", "OUTCOME", "JOBS"], right: [2])
        for share in transports { ways.add([share.name, share.outcome, grouped(share.jobs)]) }
        text += [outcomes, served, ways].map { $0.text + "\n" }.joined()
        text += tested + compared
        text += "targeted \(a.targeted) = pending \(a.pending) + leased \(a.leased) + retrying \(a.retrying)"
        text += " + delivered \(a.delivered) + failed \(a.failed) + unregistered \(a.unregistered)"
        text += " + expired \(a.expired) + cancelled \(a.cancelled) + skipped \(a.skipped) + in_doubt \(a.inDoubt)\n"
        text += "accounting violations: \(accountingViolations); at most \(a.repeatBound) sent twice\n"
        for each in pausedCredentials {
            text += "credential \(each.name) is paused: \(each.reason): \(each.detail ?? each.remedy ?? "")\n"
        }
        if let problems = auditProblems {
            text += problems.isEmpty ? "audit: every row is there once\n" : problems.joined(separator: "\n") + "\n"
        }
        return text
    }

    private var tested: String {
        var text = ""
        if !variants.isEmpty {
            var table = TextTable(["VARIANT", "TARGETED", "DELIVERED", "SHARE", "95 % INTERVAL"], right: [1, 2, 3])
            for variant in variants {
                let interval = variant.deliveredShare
                table.add([
                    variant.name, grouped(variant.targeted), grouped(variant.delivered),
                    interval.map { percent($0.share) } ?? "-",
                    interval.map { percent($0.low) + " to " + percent($0.high) } ?? "-",
                ])
            }
            text += table.text + "\n"
        }
        if Set(revisions.map(\.revision)).count > 1 {
            var table = TextTable(["REVISION", "VARIANT", "OUTCOME", "JOBS"], right: [0, 3])
            for each in revisions {
                table.add(["\(each.revision)", each.variant ?? "-", each.outcome, grouped(each.jobs)])
            }
            text += table.text + "\n"
        }
        return text
    }

    /// Plan and result, side by side.
    private var compared: String {
        guard let plan else { return "" }
        let mark = plan.exact ? "" : "about "
        var table = TextTable(["", "PLANNED", "RESULT"], right: [1, 2])
        let skipped = plan.skipped.reduce(0) { $0 + $1.subscribers }
        table.add(["targeted", mark + grouped(plan.targeted), grouped(accounting.targeted)])
        table.add(["skipped", mark + grouped(skipped), grouped(accounting.skipped)])
        for language in Set(plan.languages.map(\.name) + languages.filter { $0.name != "-" }.map(\.name))
            .sorted()
        {
            let planned = plan.languages.first { $0.name == language }?.subscribers ?? 0
            let served = languages.filter { $0.name == language }.reduce(0) { $0 + $1.jobs }
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

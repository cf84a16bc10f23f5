import Domain
import QueueStore

/// What became of one run.
struct RunReport: Encodable {
    var run: Int64
    var status: String
    var accounting: Accounting
    var accountingViolations: Int64
    /// nil = the rows were not counted.
    var auditProblems: [String]?
    var reasons: [Share]
    var languages: [Share]
    var transports: [Share]

    /// It adds up.
    var isSound: Bool { accountingViolations == 0 && auditProblems?.isEmpty != false }

    static func read(_ run: Run.ID, _ store: AdminStore, audit: Bool) async throws -> RunReport {
        guard let progress = try await store.progress(of: run) else {
            throw CommandFailure("run: \(run) is unknown; see: pushfleet campaign list")
        }
        return RunReport(
            run: run.rawValue, status: "\(progress.status)", accounting: progress.accounting,
            accountingViolations: try await store.violations(),
            auditProblems: audit ? try await store.audit(run) : nil,
            reasons: try await store.reasons(of: run), languages: try await store.languages(of: run),
            transports: try await store.transports(of: run))
    }

    var text: String {
        let a = accounting
        var text = "run \(run): \(status)\n\n"
        var outcomes = TextTable(["OUTCOME", "REASON", "JOBS", "SHARE"], right: [2, 3])
        for share in reasons {
            outcomes.add([share.outcome, share.name, grouped(share.jobs), percent(share.jobs, of: a.targeted)])
        }
        var served = TextTable(["LANGUAGE SERVED", "OUTCOME", "JOBS"], right: [2])
        for share in languages { served.add([share.name, share.outcome, grouped(share.jobs)]) }
        var ways = TextTable(["TRANSPORT", "OUTCOME", "JOBS"], right: [2])
        for share in transports { ways.add([share.name, share.outcome, grouped(share.jobs)]) }
        text += [outcomes, served, ways].map { $0.text + "\n" }.joined()
        text += "targeted \(a.targeted) = pending \(a.pending) + leased \(a.leased) + retrying \(a.retrying)"
        text += " + delivered \(a.delivered) + failed \(a.failed) + unregistered \(a.unregistered)"
        text += " + expired \(a.expired) + cancelled \(a.cancelled) + skipped \(a.skipped) + in_doubt \(a.inDoubt)\n"
        text += "accounting violations: \(accountingViolations); at most \(a.repeatBound) sent twice\n"
        if let problems = auditProblems {
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

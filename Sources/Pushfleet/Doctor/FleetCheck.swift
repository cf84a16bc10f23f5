import QueueStore
import Schema

/// Judges the schema and how the fleet stands.
enum FleetCheck {
    static func schema(_ states: [MigrationStatus]) -> Finding {
        let check = "schema"
        if let edited = states.first(where: { $0.state == .edited }) {
            return .wrong(
                check, "\(edited.title) differs from what ran",
                remedy: "run the binary whose migration ran, or restore the file; see: pushfleet migrate verify")
        }
        if let newest = states.first(where: { $0.lowestBinary > BinaryLevel.current }) {
            return .wrong(check, "\(newest.title) excludes this binary", remedy: "run a newer pushfleet")
        }
        let pending = states.filter { $0.state == .pending }
        if let first = pending.first {
            return .wrong(
                check, "\(pending.count) migrations are missing, from \(first.title) on",
                remedy: "pushfleet migrate up")
        }
        let unknown = states.filter { $0.state == .unknown }.count
        return .ok(check, "\(states.count) migrations" + (unknown == 0 ? "" : ", \(unknown) newer than this binary"))
    }

    static func findings(_ facts: FleetFacts) -> [Finding] {
        [partitions(facts), workers(facts), scheduler(facts), lost(facts), counting(facts)] + accounting(facts)
    }

    private static func partitions(_ facts: FleetFacts) -> Finding {
        let found = facts.daysAhead == 0 ? "today's is missing" : "\(facts.daysAhead) days from today on"
        let remedy = "run a janitor or scheduler, which make them; at once: SELECT pushfleet.ensure_days()"
        if facts.daysAhead < 2 { return .wrong("partitions", found, remedy: remedy) }
        return facts.daysAhead < 4
            ? .advice("partitions", found, remedy: remedy) : .ok("partitions", found)
    }

    private static func workers(_ facts: FleetFacts) -> Finding {
        let found = "\(facts.workersAlive) alive, \(grouped(facts.readyJobs)) jobs ready"
        let remedy = "pushfleet run --roles worker"
        if facts.workersAlive > 0 {
            guard facts.oldestDueSeconds >= 600 else { return .ok("workers", found) }
            return .advice(
                "workers", found + ", the oldest due for \(short(.seconds(facts.oldestDueSeconds)))",
                remedy: "pushfleet credential list; pushfleet report show queue; add workers if nothing is paused")
        }
        return facts.readyJobs > 0
            ? .wrong("workers", found, remedy: remedy) : .advice("workers", found, remedy: remedy)
    }

    /// Without one nothing is expanded, and no worker is told what to claim.
    private static func scheduler(_ facts: FleetFacts) -> Finding {
        let check = "scheduler"
        let remedy = "pushfleet run --roles scheduler"
        guard let seconds = facts.orderedSeconds else { return .advice(check, "none was ever at work", remedy: remedy) }
        let found = "was at work \(short(.seconds(max(0, seconds)))) ago"
        return seconds < 30 ? .ok(check, found) : .wrong(check, found, remedy: remedy)
    }

    private static func lost(_ facts: FleetFacts) -> Finding {
        facts.workersLost == 0
            ? .ok("lost workers", "none holds batches")
            : .advice(
                "lost workers", "\(facts.workersLost) hold batches after their lease",
                remedy: "pushfleet run --roles janitor, which frees them in some 20 s")
    }

    private static func counting(_ facts: FleetFacts) -> Finding {
        let check = "counting"
        guard let seconds = facts.countedUntilSeconds else { return .ok(check, "nothing to count yet") }
        let found = "reports are \(short(.seconds(seconds))) behind"
        return seconds < 900 ? .ok(check, found) : .advice(check, found, remedy: "pushfleet run --roles janitor")
    }

    private static func accounting(_ facts: FleetFacts) -> [Finding] {
        [
            ("accounting violations", facts.violations, "SELECT * FROM pushfleet.accounting_violation"),
            ("miscounted runs", facts.miscounted, "SELECT * FROM pushfleet.tally_violation"),
            (
                "failed audits", facts.auditsFailed,
                "SELECT run_id FROM pushfleet.run_total WHERE audit_problems > 0; pushfleet report run RUN --audit"
            ),
        ].map { check, count, remedy in
            count == 0
                ? .ok(check, "0") : .wrong(check, "\(count)", remedy: "keep the rows and report the defect: \(remedy)")
        }
    }
}

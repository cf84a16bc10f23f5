import Domain
import Postgres

/// Where the jobs of one run are, at one instant.
package struct Accounting: Sendable, Equatable, Encodable {
    package let targeted, pending, leased, retrying: Int64
    package let delivered, failed, unregistered, expired, cancelled, skipped, inDoubt: Int64
    /// At most so many notifications may have gone out twice.
    package let repeatBound: Int64

    package var open: Int64 { pending + leased + retrying }
    package var settled: Int64 { delivered + failed + unregistered + expired + cancelled + skipped + inDoubt }
}

package struct RunProgress: Sendable {
    package let status: RunStatus
    /// Every subscriber has been looked at.
    package let expanded: Bool
    package let accounting: Accounting
    /// Why it paused itself, or what who paused it said; nil = it is not paused, or nothing was said.
    package let pausedBecause: String?
    package let appIsPaused: Bool
}

/// One line of a breakdown.
package struct Share: Sendable, Encodable {
    package let outcome: String
    package let name: String
    package let jobs: Int64
}

extension AdminStore {
    /// - Returns: nil when there is no such run.
    package func progress(of run: Run.ID) async throws -> RunProgress? {
        let rows = try await client.query(
            """
            SELECT run.status, coalesce(bool_and(progress.expanded), true),
                coalesce(max(total.targeted), max(a.targeted), 0)::bigint, coalesce(max(a.pending), 0)::bigint,
                coalesce(max(a.leased), 0)::bigint, coalesce(max(a.retrying), 0)::bigint,
                coalesce(max(total.delivered), max(a.delivered), 0)::bigint,
                coalesce(max(total.failed), max(a.failed), 0)::bigint,
                coalesce(max(total.unregistered), max(a.unregistered), 0)::bigint,
                coalesce(max(total.expired), max(a.expired), 0)::bigint,
                coalesce(max(total.cancelled), max(a.cancelled), 0)::bigint,
                coalesce(max(total.skipped), max(a.skipped), 0)::bigint,
                coalesce(max(total.in_doubt), max(a.in_doubt), 0)::bigint,
                coalesce(max(total.repeat_bound), max(a.repeat_bound), 0)::bigint,
                run.paused_detail, bool_or(app.paused_at IS NOT NULL)
            FROM pushfleet.run
            JOIN pushfleet.app ON app.id = run.app_id
            LEFT JOIN pushfleet.run_progress progress ON progress.run_id = run.id
            LEFT JOIN pushfleet.accounting a ON a.run_id = run.id
            LEFT JOIN pushfleet.run_total total ON total.run_id = run.id
            WHERE run.id = \(run.rawValue)
            GROUP BY run.id
            """, deadline: .seconds(60))
        guard let row = rows.first, let status = RunStatus(rawValue: row.int16(0)) else { return nil }
        let accounting = Accounting(
            targeted: row.int64(2), pending: row.int64(3), leased: row.int64(4), retrying: row.int64(5),
            delivered: row.int64(6), failed: row.int64(7), unregistered: row.int64(8), expired: row.int64(9),
            cancelled: row.int64(10), skipped: row.int64(11), inDoubt: row.int64(12), repeatBound: row.int64(13))
        return RunProgress(
            status: status, expanded: row.bool(1), accounting: accounting, pausedBecause: row.stringOrNil(14),
            appIsPaused: row.bool(15))
    }

    /// Outcomes of a run by reason, the most frequent first.
    package func reasons(of run: Run.ID) async throws -> [Share] {
        shares(
            try await client.query(
                """
                SELECT d.outcome, coalesce(reason.name, d.reason::text), count(*)
                FROM pushfleet.delivery d
                LEFT JOIN pushfleet.reason ON reason.code = d.reason
                WHERE d.run_id = \(run.rawValue)
                GROUP BY d.outcome, reason.name, d.reason
                ORDER BY count(*) DESC, d.outcome
                """, deadline: .seconds(300)))
    }

    /// Outcomes of a run by the language that was served.
    package func languages(of run: Run.ID) async throws -> [Share] {
        shares(
            try await client.query(
                """
                SELECT d.outcome, coalesce(d.language, '-'), count(*)
                FROM pushfleet.delivery d
                WHERE d.run_id = \(run.rawValue)
                GROUP BY d.outcome, d.language
                ORDER BY count(*) DESC, d.outcome
                """, deadline: .seconds(300)))
    }

    /// Outcomes of a run by transport: that which the subscribers have now.
    package func transports(of run: Run.ID) async throws -> [Share] {
        let rows = try await client.query(
            """
            SELECT d.outcome, s.transport, count(*)
            FROM pushfleet.delivery d
            JOIN pushfleet.subscriber s ON s.shard = d.shard AND s.id = d.subscriber_id
            WHERE d.run_id = \(run.rawValue)
            GROUP BY d.outcome, s.transport
            ORDER BY s.transport, count(*) DESC
            """, deadline: .seconds(300))
        return rows.map {
            Share(
                outcome: Outcome(rawValue: $0.int16(0))?.name ?? "unknown",
                name: TransportKind(rawValue: $0.int16(1))?.name ?? "unknown", jobs: $0.int64(2))
        }
    }

    private func shares(_ rows: PostgresRows) -> [Share] {
        rows.map {
            Share(
                outcome: Outcome(rawValue: $0.int16(0))?.name ?? "unknown", name: $0.string(1), jobs: $0.int64(2))
        }
    }

    /// Counts the rows of a run against its batches: what it finds wrong, which must be nothing.
    package func audit(_ run: Run.ID) async throws -> [String] {
        let rows = try await client.query(
            "SELECT problem, batch_id, expected, found FROM pushfleet.audit(\(run.rawValue))", deadline: .seconds(600))
        return rows.map {
            let batch = $0.int64OrNil(1).map { "batch \($0)" } ?? "the run"
            return "\(batch): \($0.string(0)): expected \($0.int64OrNil(2) ?? 0), found \($0.int64OrNil(3) ?? 0)"
        }
    }

    /// Rows of the view that must be empty.
    package func violations() async throws -> Int64 {
        try await client.query(
            "SELECT count(*) FROM pushfleet_report.accounting_violation", deadline: .seconds(60))[0].int64(0)
    }
}

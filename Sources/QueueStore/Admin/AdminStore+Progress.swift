import Domain
import Postgres

/// Where the jobs of a run are. `targeted` is the sum of the others but `repeatBound`.
package struct Accounting: Codable, Sendable, Equatable {
    package let targeted: Int64
    package let pending: Int64
    package let leased: Int64
    package let retrying: Int64
    package let delivered: Int64
    package let failed: Int64
    package let unregistered: Int64
    package let expired: Int64
    package let cancelled: Int64
    package let skipped: Int64
    package let inDoubt: Int64
    /// How many notifications may have gone out once more, at most.
    package let repeatBound: Int64
}

package struct RunProgress: Sendable, Equatable {
    package let status: RunStatus
    /// All of its jobs are there.
    package let expanded: Bool
    package let accounting: Accounting
    /// The database's clock, for rates between two looks.
    package let at: Instant
}

/// How many jobs of a run ended alike.
package struct OutcomeCount: Codable, Sendable, Equatable {
    package let outcome: String
    package let reason: String
    package let language: String?
    package let count: Int64
}

/// What `audit` found. None is the good answer.
package struct AuditProblem: Codable, Sendable, Equatable {
    package let problem: String
    package let shard: Int16?
    package let batch: Int64?
    package let expected: Int64
    package let found: Int64
}

/// A run of which two countings differ: a defect.
package struct AccountingViolation: Codable, Sendable, Equatable {
    package let shard: Int16
    package let run: Int64
    package let targeted: Int64
    package let expanded: Int64
    package let retrying: Int64
    package let retryRows: Int64
}

extension AdminStore {
    /// - Returns: nil if there is no such run.
    package func progress(of run: Run.ID) async throws -> RunProgress? {
        guard let row = try await client.query(.progress(of: run), deadline: .seconds(30)).first else { return nil }
        return RunProgress(
            status: try stored(row.int16(0), "run.status"), expanded: row.bool(1),
            accounting: Accounting(
                targeted: row.int64(3), pending: row.int64(4), leased: row.int64(5), retrying: row.int64(6),
                delivered: row.int64(7), failed: row.int64(8), unregistered: row.int64(9), expired: row.int64(10),
                cancelled: row.int64(11), skipped: row.int64(12), inDoubt: row.int64(13), repeatBound: row.int64(14)),
            at: Instant(microseconds: row.timestampMicroseconds(2)))
    }

    /// Reads the run's deliveries.
    package func outcomes(of run: Run.ID) async throws -> [OutcomeCount] {
        try await client.query(.outcomes(of: run), deadline: .seconds(300)).map { row in
            OutcomeCount(
                outcome: Outcome(rawValue: row.int16(0))?.name ?? "unknown", reason: row.string(1),
                language: row.stringOrNil(2), count: row.int64(3))
        }
    }

    /// Counts the rows of a run against its batches: reads every job and delivery of it, once.
    package func audit(_ run: Run.ID) async throws -> [AuditProblem] {
        try await client.query(.audit(run), deadline: .seconds(600)).map { row in
            AuditProblem(
                problem: row.string(0), shard: row.int16OrNil(1), batch: row.int64OrNil(2), expected: row.int64(3),
                found: row.int64(4))
        }
    }

    package func accountingViolations() async throws -> [AccountingViolation] {
        try await client.query(.accountingViolations, deadline: .seconds(60)).map { row in
            AccountingViolation(
                shard: row.int16(0), run: row.int64(1), targeted: row.int64(2), expanded: row.int64(3),
                retrying: row.int64(4), retryRows: row.int64(5))
        }
    }
}

extension PostgresQuery {
    /// Of an open run from its batches, of a closed one from its total.
    static func progress(of run: Run.ID) -> PostgresQuery {
        """
        SELECT run.status,
            NOT EXISTS (SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id AND NOT p.expanded),
            now(),
            coalesce(total.targeted, a.targeted::bigint, 0),
            coalesce(a.pending::bigint, 0),
            coalesce(a.leased::bigint, 0),
            coalesce(a.retrying::bigint, 0),
            coalesce(total.delivered, a.delivered::bigint, 0),
            coalesce(total.failed, a.failed::bigint, 0),
            coalesce(total.unregistered, a.unregistered::bigint, 0),
            coalesce(total.expired, a.expired::bigint, 0),
            coalesce(total.cancelled, a.cancelled::bigint, 0),
            coalesce(total.skipped, a.skipped::bigint, 0),
            coalesce(total.in_doubt, a.in_doubt::bigint, 0),
            coalesce(total.repeat_bound, a.repeat_bound::bigint, 0)
        FROM pushfleet.run
        LEFT JOIN pushfleet.run_total total ON total.run_id = run.id
        LEFT JOIN LATERAL (
            SELECT one.targeted, one.pending, one.leased, one.retrying, one.delivered, one.failed, one.unregistered,
                one.expired, one.cancelled, one.skipped, one.in_doubt, one.repeat_bound
            FROM pushfleet.accounting one
            WHERE one.run_id = \(run.rawValue)
        ) a ON true
        WHERE run.id = \(run.rawValue)
        """
    }

    static func outcomes(of run: Run.ID) -> PostgresQuery {
        """
        SELECT d.outcome, coalesce(reason.name, d.reason::text), d.language, count(*)
        FROM pushfleet.run
        JOIN pushfleet.delivery d ON d.run_id = run.id AND d.at >= run.created_at
        LEFT JOIN pushfleet.reason ON reason.code = d.reason
        WHERE run.id = \(run.rawValue)
        GROUP BY d.outcome, coalesce(reason.name, d.reason::text), d.language
        ORDER BY d.outcome, count(*) DESC
        """
    }

    static func audit(_ run: Run.ID) -> PostgresQuery {
        """
        SELECT problem, shard, batch_id, expected, found
        FROM pushfleet.audit(\(run.rawValue))
        """
    }

    static let accountingViolations: PostgresQuery = """
        SELECT shard, run_id, targeted::bigint, expanded::bigint, retrying::bigint, retry_rows
        FROM pushfleet.accounting_violation
        """
}

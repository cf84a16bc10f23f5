import Domain
import Postgres

/// The views of schema `pushfleet_report` that a report shows.
package enum ReportView: String, CaseIterable, Sendable {
    case campaigns, runs, outcomes, hourly, daily, latency, retries, tokens, queue, workers, credentials, events
    case bypasses, accounting
    case newlyUnregistered = "newly_unregistered"
    case accountingViolation = "accounting_violation"

    /// Which rows, and in which order.
    fileprivate var ending: String {
        switch self {
        case .campaigns: "ORDER BY campaign_id DESC"
        case .runs: "ORDER BY run_id DESC"
        case .outcomes: "ORDER BY run_id DESC, jobs DESC"
        case .hourly: "ORDER BY hour DESC, app, transport, outcome"
        case .daily, .newlyUnregistered: "ORDER BY day DESC, app, transport"
        case .latency, .retries: "ORDER BY run_id DESC, transport"
        case .events, .accounting, .accountingViolation: "ORDER BY run_id DESC"
        case .tokens: "ORDER BY app, transport, state, registered_month, seen_days"
        case .queue: "ORDER BY lane DESC"
        case .workers: "ORDER BY worker"
        case .credentials: "ORDER BY app, credential"
        case .bypasses: "ORDER BY at DESC, content_version DESC"
        }
    }

    /// It has rows for each run, of which one can be chosen.
    package var isByRun: Bool {
        [.runs, .outcomes, .latency, .retries, .events, .accounting, .accountingViolation].contains(self)
    }
}

package struct ViewRows: Sendable {
    package let columns: [String]
    /// As PostgreSQL prints them; nil = NULL.
    package let rows: [[String?]]
    /// Each row as one JSON object.
    package let json: [String]
}

extension AdminStore {
    /// - Parameter run: only this run's rows; of views that know runs.
    package func rows(of view: ReportView, run: Int64?, limit: Int32) async throws -> ViewRows {
        let rows = try await client.query(
            """
            SELECT ARRAY(SELECT member.key FROM json_each_text(line.row) member),
                ARRAY(SELECT member.value FROM json_each_text(line.row) member),
                line.row::text
            FROM (
                SELECT row_to_json(view_row) AS row
                FROM (
                    SELECT *
                    FROM pushfleet_report.\(unescaped: view.rawValue)
                    WHERE \(unescaped: run != nil && view.isByRun ? "run_id =" : "0 <") \(run ?? 1)
                    \(unescaped: view.ending)
                    LIMIT \(limit)
                ) view_row
            ) line
            """, deadline: .seconds(60))
        return ViewRows(
            columns: rows.first.map { $0.textArray(0).map { $0 ?? "" } } ?? [], rows: rows.map { $0.textArray(1) },
            json: rows.map { $0.string(2) })
    }
}

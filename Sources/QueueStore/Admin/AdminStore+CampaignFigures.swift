import Domain
import Postgres

/// What a campaign's page shows, all from the report's views.
package struct CampaignFigures: Sendable {
    package struct RunLine: Sendable {
        package let run: Int64
        package let status: String
        /// ISO 8601 in UTC, to the minute.
        package let dueAt: String
        package let closedAt: String?
        package let accounting: Accounting
    }

    /// Jobs with one outcome among those with one value of a dimension.
    package struct Part: Sendable {
        package let group: String
        package let outcome: String
        package let jobs: Int64

        package init(group: String, outcome: String, jobs: Int64) {
            self.group = group
            self.outcome = outcome
            self.jobs = jobs
        }
    }

    package struct Hour: Sendable {
        /// Hours since 1970 in UTC.
        package let hour: Int64
        package let outcome: String
        package let jobs: Int64
    }

    package struct Latency: Sendable {
        package let run: Int64
        package let transport: String
        /// `due to sent` or `sent to answered`.
        package let kind: String
        package let jobs: Int64
        /// Milliseconds: the 50th, 90th, 95th and 99th percentile.
        package let percentiles: [Int64]
    }

    package let campaign: Int64
    package let name, app, state, createdAt, asOf: String
    package let runs: [RunLine]
    package let transports, languages, reasons: [Part]
    package let hours: [Hour]
    package let latencies: [Latency]
    package let violations: Int64

    package init(
        campaign: Int64, name: String, app: String, state: String, createdAt: String, asOf: String, runs: [RunLine],
        transports: [Part], languages: [Part], reasons: [Part], hours: [Hour], latencies: [Latency], violations: Int64
    ) {
        self.campaign = campaign
        self.name = name
        self.app = app
        self.state = state
        self.createdAt = createdAt
        self.asOf = asOf
        self.runs = runs
        self.transports = transports
        self.languages = languages
        self.reasons = reasons
        self.hours = hours
        self.latencies = latencies
        self.violations = violations
    }
}

extension AdminStore {
    /// - Returns: nil when there is no such campaign.
    package func figures(ofCampaign campaign: Int64) async throws -> CampaignFigures? {
        let rows = try await client.query(
            """
            SELECT c.name, c.app, c.state, to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
                to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
            FROM pushfleet_report.campaigns c
            WHERE c.campaign_id = \(campaign)
            """)
        guard let row = rows.first else { return nil }
        let runs = try await runLines(ofCampaign: campaign)
        let ids = runs.map(\.run)
        return CampaignFigures(
            campaign: campaign, name: row.string(0), app: row.string(1), state: row.string(2),
            createdAt: row.string(3), asOf: row.string(4), runs: runs,
            transports: try await parts("transport", of: ids), languages: try await parts("language_served", of: ids),
            reasons: try await parts("reason", of: ids), hours: try await hours(of: ids),
            latencies: try await latencies(of: ids), violations: try await violations())
    }

    private func runLines(ofCampaign campaign: Int64) async throws -> [CampaignFigures.RunLine] {
        let rows = try await client.query(
            """
            SELECT run_id, status, to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
                to_char(closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'),
                ARRAY[targeted, pending, leased, retrying, delivered, failed, unregistered, expired, cancelled, skipped,
                    in_doubt, repeat_bound]::bigint[]
            FROM pushfleet_report.runs
            WHERE campaign_id = \(campaign)
            ORDER BY run_id
            """, deadline: .seconds(60))
        return rows.map { row in
            let n = row.int64Array(4)
            return CampaignFigures.RunLine(
                run: row.int64(0), status: row.string(1), dueAt: row.string(2), closedAt: row.stringOrNil(3),
                accounting: Accounting(
                    targeted: n[0], pending: n[1], leased: n[2], retrying: n[3], delivered: n[4], failed: n[5],
                    unregistered: n[6], expired: n[7], cancelled: n[8], skipped: n[9], inDoubt: n[10],
                    repeatBound: n[11]))
        }
    }

    private func parts(_ dimension: StaticString, of runs: [Int64]) async throws -> [CampaignFigures.Part] {
        let rows = try await client.query(
            """
            SELECT coalesce(nullif(\(unescaped: "\(dimension)"), ''), 'none'), outcome, sum(jobs)::bigint
            FROM pushfleet_report.outcomes
            WHERE run_id = ANY(\(runs))
            GROUP BY 1, 2
            ORDER BY sum(sum(jobs)) OVER (PARTITION BY coalesce(nullif(\(unescaped: "\(dimension)"), ''), 'none')) DESC, 1, 2
            """, deadline: .seconds(60))
        return rows.map { CampaignFigures.Part(group: $0.string(0), outcome: $0.string(1), jobs: $0.int64(2)) }
    }

    private func hours(of runs: [Int64]) async throws -> [CampaignFigures.Hour] {
        let rows = try await client.query(
            """
            SELECT (extract(epoch FROM hour) / 3600)::bigint, pushfleet_report.outcome_name(outcome), sum(n)::bigint
            FROM pushfleet.tally
            WHERE run_id = ANY(\(runs))
            GROUP BY hour, outcome
            ORDER BY hour, outcome
            """, deadline: .seconds(60))
        return rows.map { CampaignFigures.Hour(hour: $0.int64(0), outcome: $0.string(1), jobs: $0.int64(2)) }
    }

    private func latencies(of runs: [Int64]) async throws -> [CampaignFigures.Latency] {
        let rows = try await client.query(
            """
            SELECT run_id, coalesce(transport, 'none'), kind, jobs,
                ARRAY[p50_ms, p90_ms, p95_ms, p99_ms]::bigint[]
            FROM pushfleet_report.latency
            WHERE run_id = ANY(\(runs))
            ORDER BY run_id, transport, kind
            """, deadline: .seconds(60))
        return rows.map {
            CampaignFigures.Latency(
                run: $0.int64(0), transport: $0.string(1), kind: $0.string(2), jobs: $0.int64(3),
                percentiles: $0.int64Array(4))
        }
    }
}

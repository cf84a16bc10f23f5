import Domain
import Postgres

/// Figures of the whole fleet, as the database has them.
package struct FleetFigures: Sendable {
    package struct LaneFigures: Sendable {
        package let lane: String
        package let ready, leased, scheduled, retrying: Int64
        package let oldestDueSeconds: Double
    }

    package struct CredentialFigures: Sendable {
        package let app, credential: String
        package let isPaused: Bool
        /// nil = it never succeeded.
        package let secondsSinceSuccess: Double?
        /// Of the provider token that the fleet shares, below zero once it is over; nil = there is none.
        package let tokenSecondsLeft: Double?
    }

    package let lanes: [LaneFigures]
    package let credentials: [CredentialFigures]
    package let workersAlive: Int64
    package let violations: Int64
    /// Age of the oldest snapshot that keeps dead rows, in seconds.
    package let oldestSnapshotSeconds: Double
    /// Since a scheduler put the lanes in order last; nil = none ever did.
    package let orderedSeconds: Double?
    package let deadRows: [(table: String, rows: Int64)]
}

package struct PostgresGaugeStore: Sendable {
    let client: PostgresClient

    package init(client: PostgresClient) { self.client = client }

    package func figures() async throws -> FleetFigures {
        let lanes = try await client.query(
            """
            SELECT lane, ready, leased, scheduled, retrying::bigint, extract(epoch FROM oldest_due_age)::double precision
            FROM pushfleet_report.queue
            ORDER BY lane
            """, deadline: .seconds(10))
        let credentials = try await client.query(
            """
            SELECT app, credential, state = 'paused', extract(epoch FROM now() - last_success_at)::double precision,
                extract(epoch FROM token_expires_at - now())::double precision
            FROM pushfleet_report.credentials
            ORDER BY app, credential
            LIMIT 1000
            """, deadline: .seconds(10))
        let whole = try await client.query(
            """
            SELECT (SELECT count(*) FROM pushfleet.worker WHERE lease_until > now()),
                (SELECT count(*) FROM pushfleet.accounting_violation),
                coalesce((
                    SELECT extract(epoch FROM now() - min(xact_start))
                    FROM pg_stat_activity
                    WHERE backend_xmin IS NOT NULL AND datname = current_database() AND pid <> pg_backend_pid()
                ), 0)::double precision,
                \(PostgresFragment.schedulerAge)::double precision
            """, deadline: .seconds(10))[0]
        let dead = try await client.query(
            """
            SELECT relname::text, n_dead_tup
            FROM pg_stat_user_tables
            WHERE schemaname = 'pushfleet' AND relname IN ('batch', 'retry', 'notification', 'worker', 'run_route')
            ORDER BY relname
            """, deadline: .seconds(10))
        return FleetFigures(
            lanes: lanes.map {
                .init(
                    lane: $0.string(0), ready: $0.int64(1), leased: $0.int64(2), scheduled: $0.int64(3),
                    retrying: $0.int64(4), oldestDueSeconds: $0.double(5))
            },
            credentials: credentials.map {
                .init(
                    app: $0.string(0), credential: $0.string(1), isPaused: $0.bool(2),
                    secondsSinceSuccess: $0.isNull(3) ? nil : $0.double(3),
                    tokenSecondsLeft: $0.isNull(4) ? nil : $0.double(4))
            },
            workersAlive: whole.int64(0), violations: whole.int64(1), oldestSnapshotSeconds: whole.double(2),
            orderedSeconds: whole.isNull(3) ? nil : whole.double(3), deadRows: dead.map { ($0.string(0), $0.int64(1)) })
    }
}

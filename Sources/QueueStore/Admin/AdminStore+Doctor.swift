import Domain
import Postgres

/// What a PostgreSQL says of itself.
package struct DatabaseFacts: Sendable {
    /// As `server_version_num`: 150004 for 15.4.
    package var versionNumber: Int32
    package var version: String
    package var isStandby: Bool
    /// By name; spans in milliseconds.
    package var settings: [String: String]
    package var now: Instant
    package var connections, connectionLimit: Int64
    /// nil = no transaction is open.
    package var oldestTransactionSeconds: Int64?
    package var login: Login

    /// As whom the database is asked.
    package struct Login: Sendable {
        package var name: String
        package var isSuperuser: Bool
        /// Of the schema; nil = there is none yet.
        package var isOwner: Bool?
        /// Of the roles `pushfleet_…`, which the migrations make.
        package var memberOf: [String]
        /// Those of them that may log in or are superusers, which a group must not.
        package var unsafeGroups: [String]

        package init(
            name: String, isSuperuser: Bool, isOwner: Bool?, memberOf: [String], unsafeGroups: [String] = []
        ) {
            self.name = name
            self.isSuperuser = isSuperuser
            self.isOwner = isOwner
            self.memberOf = memberOf
            self.unsafeGroups = unsafeGroups
        }
    }

    package init(
        versionNumber: Int32, version: String, isStandby: Bool, settings: [String: String], now: Instant,
        connections: Int64, connectionLimit: Int64, oldestTransactionSeconds: Int64?, login: Login
    ) {
        self.versionNumber = versionNumber
        self.version = version
        self.isStandby = isStandby
        self.settings = settings
        self.now = now
        self.connections = connections
        self.connectionLimit = connectionLimit
        self.oldestTransactionSeconds = oldestTransactionSeconds
        self.login = login
    }
}

extension DatabaseFacts {
    fileprivate static let groups = ["worker", "scheduler", "janitor", "reporter", "caller", "intake"]
        .map { "pushfleet_\($0)" }
}

/// How the fleet stands, as its tables show.
package struct FleetFacts: Sendable {
    /// From today on, without a gap; at most 8 are counted.
    package var daysAhead: Int32
    package var workersAlive: Int64
    /// Workers whose lease is over and that hold batches still.
    package var workersLost: Int64
    package var readyJobs: Int64
    package var oldestDueSeconds: Int64
    package var violations: Int64
    /// Runs whose counts by hour differ from their totals.
    package var miscounted: Int64
    /// Closed runs in whose rows an audit found something.
    package var auditsFailed: Int64
    /// nil = nothing was ever counted.
    package var countedUntilSeconds: Int64?
    /// Since a scheduler put the lanes in order last, which it does every second; nil = none ever did.
    package var orderedSeconds: Int64?

    package init(
        daysAhead: Int32, workersAlive: Int64, workersLost: Int64, readyJobs: Int64, oldestDueSeconds: Int64,
        violations: Int64, miscounted: Int64, auditsFailed: Int64, countedUntilSeconds: Int64?, orderedSeconds: Int64?
    ) {
        self.daysAhead = daysAhead
        self.workersAlive = workersAlive
        self.workersLost = workersLost
        self.readyJobs = readyJobs
        self.oldestDueSeconds = oldestDueSeconds
        self.violations = violations
        self.miscounted = miscounted
        self.auditsFailed = auditsFailed
        self.countedUntilSeconds = countedUntilSeconds
        self.orderedSeconds = orderedSeconds
    }
}

/// A credential, and what its file must hold.
package struct CredentialPlace: Sendable {
    package var app, name: String
    package var transport: TransportKind
    package var file: String
    package var endpoint: String?
    package var contact: String?
    package var projectID: String?
    package var publicKey: String?
    /// Why it is paused; nil = it is not.
    package var pausedBecause: String?
    /// nil = never.
    package var secondsSinceSuccess: Int64?

    package init(
        app: String, name: String, transport: TransportKind, file: String, endpoint: String? = nil,
        contact: String? = nil, projectID: String? = nil, publicKey: String? = nil, pausedBecause: String? = nil,
        secondsSinceSuccess: Int64? = nil
    ) {
        self.app = app
        self.name = name
        self.transport = transport
        self.file = file
        self.endpoint = endpoint
        self.contact = contact
        self.projectID = projectID
        self.publicKey = publicKey
        self.pausedBecause = pausedBecause
        self.secondsSinceSuccess = secondsSinceSuccess
    }
}

extension AdminStore {
    /// Needs no schema.
    package func databaseFacts() async throws -> DatabaseFacts {
        let row = try await client.query(
            """
            WITH setting AS MATERIALIZED (
                SELECT name, setting
                FROM pg_catalog.pg_settings
                WHERE name IN (
                    'autovacuum', 'track_counts', 'fsync', 'full_page_writes', 'synchronous_commit', 'statement_timeout',
                    'idle_in_transaction_session_timeout', 'transaction_timeout'
                )
            )
            SELECT current_setting('server_version_num')::int, current_setting('server_version'), pg_is_in_recovery(),
                (SELECT array_agg(setting.name ORDER BY setting.name) FROM setting),
                (SELECT array_agg(setting.setting ORDER BY setting.name) FROM setting),
                clock_timestamp(),
                (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
                current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
                (
                    SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::bigint
                    FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                )
            """)[0]
        let names = row.textArray(3).map { $0 ?? "" }
        let values = row.textArray(4).map { $0 ?? "" }
        return DatabaseFacts(
            versionNumber: row.int32(0), version: row.string(1), isStandby: row.bool(2),
            settings: Dictionary(zip(names, values)) { first, _ in first },
            now: Instant(microseconds: row.timestampMicroseconds(5)), connections: row.int64(6),
            connectionLimit: row.int64(7), oldestTransactionSeconds: row.int64OrNil(8), login: try await login())
    }

    private func login() async throws -> DatabaseFacts.Login {
        let row = try await client.query(
            """
            WITH fleet AS MATERIALIZED (
                SELECT rolname::text AS name, pg_has_role(oid, 'MEMBER') AS is_mine,
                    rolsuper OR rolcreaterole OR rolbypassrls OR rolcanlogin AS is_unsafe
                FROM pg_roles
                WHERE rolname = ANY (\(DatabaseFacts.groups))
            )
            SELECT current_user::text, r.rolsuper,
                (SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'pushfleet'),
                ARRAY(SELECT name FROM fleet WHERE is_mine ORDER BY name),
                ARRAY(SELECT name FROM fleet WHERE is_unsafe ORDER BY name)
            FROM pg_roles r
            WHERE r.rolname = current_user
            """)[0]
        return DatabaseFacts.Login(
            name: row.string(0), isSuperuser: row.bool(1), isOwner: row.isNull(2) ? nil : row.bool(2),
            memberOf: row.textArray(3).compactMap { $0 }, unsafeGroups: row.textArray(4).compactMap { $0 })
    }

    package func fleetFacts() async throws -> FleetFacts {
        let row = try await client.query(
            """
            SELECT
                (
                    SELECT coalesce(min(day.ahead) FILTER (
                        WHERE to_regclass(format('pushfleet.%s_%s', parent.name, to_char(
                            (now() AT TIME ZONE 'UTC')::date + day.ahead, 'YYYYMMDD'))) IS NULL), 8)
                    FROM generate_series(0, 7) day (ahead)
                    CROSS JOIN (VALUES ('delivery'), ('attempt')) parent (name)
                ),
                (SELECT count(*) FROM pushfleet_report.workers WHERE is_alive),
                (SELECT count(*) FROM pushfleet_report.workers WHERE NOT is_alive AND batches > 0),
                (SELECT sum(ready)::bigint FROM pushfleet_report.queue),
                (SELECT extract(epoch FROM max(oldest_due_age))::bigint FROM pushfleet_report.queue),
                (SELECT count(*) FROM pushfleet.accounting_violation),
                (SELECT count(*) FROM pushfleet.tally_violation),
                (SELECT count(*) FROM pushfleet.run_total WHERE audit_problems > 0),
                (SELECT extract(epoch FROM now() - min(folded_until))::bigint FROM pushfleet.tally_mark),
                \(PostgresFragment.schedulerAge)::bigint
            """, deadline: .seconds(60))[0]
        return FleetFacts(
            daysAhead: row.int32(0), workersAlive: row.int64(1), workersLost: row.int64(2), readyJobs: row.int64(3),
            oldestDueSeconds: row.int64(4), violations: row.int64(5), miscounted: row.int64(6),
            auditsFailed: row.int64(7), countedUntilSeconds: row.int64OrNil(8),
            orderedSeconds: row.int64OrNil(9))
    }

    /// All credentials, where a check may find their secrets.
    package func credentialPlaces() async throws -> [CredentialPlace] {
        let rows = try await client.query(
            """
            SELECT app.name, c.name, c.transport, c.file, c.endpoint, c.facts ->> 'contact', c.facts ->> 'project_id',
                c.facts ->> 'public_key',
                CASE WHEN c.state = 1 THEN coalesce(reason.name, c.state_reason::text) END,
                extract(epoch FROM now() - seen.last_success_at)::bigint
            FROM pushfleet.credential c
            JOIN pushfleet.app ON app.id = c.app_id
            JOIN pushfleet_report.credentials seen ON seen.app = app.name AND seen.credential = c.name
            LEFT JOIN pushfleet.reason ON reason.code = c.state_reason
            ORDER BY app.name, c.name
            """)
        return rows.compactMap { row in
            guard let transport = TransportKind(rawValue: row.int16(2)) else { return nil }
            return CredentialPlace(
                app: row.string(0), name: row.string(1), transport: transport, file: row.string(3),
                endpoint: row.stringOrNil(4), contact: row.stringOrNil(5), projectID: row.stringOrNil(6),
                publicKey: row.stringOrNil(7), pausedBecause: row.stringOrNil(8),
                secondsSinceSuccess: row.int64OrNil(9))
        }
    }
}

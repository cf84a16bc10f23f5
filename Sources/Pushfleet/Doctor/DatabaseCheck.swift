import Domain
import QueueStore

/// Judges what a PostgreSQL says of itself.
enum DatabaseCheck {
    private static let oldestVersion: Int32 = 150_000

    /// - Parameters:
    ///   - local: this machine's clock, half way between asking and the answer.
    ///   - uncertainty: half the time that the answer took.
    static func findings(_ facts: DatabaseFacts, local: Instant, uncertainty: Duration) -> [Finding] {
        [version(facts), role(facts)] + logins(facts.login) + durability(facts) + [vacuum(facts)] + timeouts(facts)
            + [connections(facts), transactions(facts), clock(facts.now - local, uncertainty)]
    }

    private static func version(_ facts: DatabaseFacts) -> Finding {
        let found = "PostgreSQL \(facts.version)"
        return facts.versionNumber >= oldestVersion
            ? .ok("database version", found)
            : .wrong("database version", found, remedy: "upgrade the server to PostgreSQL 15 or later")
    }

    private static func role(_ facts: DatabaseFacts) -> Finding {
        facts.isStandby
            ? .wrong(
                "database role", "a standby, which takes no writes",
                remedy: "name the primary; with several hosts add target_session_attrs=read-write")
            : .ok("database role", "primary")
    }

    private static func logins(_ login: DatabaseFacts.Login) -> [Finding] {
        var findings = [self.login(login)]
        if !login.unsafeGroups.isEmpty {
            findings.append(
                .wrong(
                    "roles", "may log in, or do too much: \(login.unsafeGroups.joined(separator: ", "))",
                    remedy: "ALTER ROLE … NOLOGIN NOSUPERUSER NOCREATEROLE NOBYPASSRLS; members log in"))
        }
        return findings
    }

    private static func login(_ login: DatabaseFacts.Login) -> Finding {
        let check = "login"
        if login.isSuperuser {
            return .advice(
                check, "\(login.name), a superuser",
                remedy: "a login for each part of the fleet: psql -f Deploy/postgresql/roles.sql")
        }
        guard let isOwner = login.isOwner else { return .ok(check, login.name) }
        if isOwner { return .ok(check, "\(login.name), who owns the schema") }
        guard !login.memberOf.isEmpty else {
            return .wrong(
                check, "\(login.name), member of no role of the fleet",
                remedy: "GRANT pushfleet_worker TO \(login.name), or whichever role it is for")
        }
        return .ok(check, "\(login.name), member of \(login.memberOf.joined(separator: ", "))")
    }

    private static func durability(_ facts: DatabaseFacts) -> [Finding] {
        ["fsync", "full_page_writes", "synchronous_commit"].map { name in
            let value = facts.settings[name] ?? "unknown"
            // local, remote_write and remote_apply all wait for the primary's own disk.
            return value == "off"
                ? .wrong(
                    "setting \(name)", value,
                    remedy: "ALTER SYSTEM SET \(name) = on; SELECT pg_reload_conf(); a crash loses outcomes otherwise")
                : .ok("setting \(name)", value)
        }
    }

    private static func vacuum(_ facts: DatabaseFacts) -> Finding {
        for name in ["autovacuum", "track_counts"] where facts.settings[name] != "on" {
            return .wrong(
                "setting \(name)", facts.settings[name] ?? "unknown",
                remedy: "ALTER SYSTEM SET \(name) = on; SELECT pg_reload_conf(); the queue's tables swell otherwise")
        }
        return .ok("setting autovacuum", "on")
    }

    private static func timeouts(_ facts: DatabaseFacts) -> [Finding] {
        ["statement_timeout", "transaction_timeout"].compactMap { name -> Finding? in
            guard let value = facts.settings[name].flatMap({ Int($0) }) else { return nil }
            return value == 0 || value >= 30_000
                ? .ok("setting \(name)", value == 0 ? "none" : "\(value / 1000) s")
                : .wrong(
                    "setting \(name)", "\(value) ms",
                    remedy: "ALTER ROLE … SET \(name) = '30s' or 0: the longest statement of a worker takes up to 30 s")
        } + [idle(facts)]
    }

    private static func idle(_ facts: DatabaseFacts) -> Finding {
        let name = "idle_in_transaction_session_timeout"
        let value = facts.settings[name].flatMap { Int($0) } ?? 0
        return value > 0
            ? .ok("setting \(name)", "\(value / 1000) s")
            : .advice(
                "setting \(name)", "none",
                remedy: "ALTER SYSTEM SET \(name) = '60s'; a forgotten transaction keeps dead rows otherwise")
    }

    private static func connections(_ facts: DatabaseFacts) -> Finding {
        let found = "\(facts.connections) of \(facts.connectionLimit) in use"
        return facts.connections * 10 < facts.connectionLimit * 9
            ? .ok("connections", found)
            : .wrong("connections", found, remedy: "raise max_connections, or put PgBouncer in between")
    }

    private static func transactions(_ facts: DatabaseFacts) -> Finding {
        let check = "oldest transaction"
        guard let seconds = facts.oldestTransactionSeconds else { return .ok(check, "none") }
        let found = "open for \(short(.seconds(seconds)))"
        return seconds < 900
            ? .ok(check, found)
            : .advice(
                check, found,
                remedy: "SELECT pid, query FROM pg_stat_activity ORDER BY xact_start; end it: pg_terminate_backend(pid)"
            )
    }

    /// Work is timed by the database's clock alone; providers judge tokens by their own, some seconds apart at most.
    static func clock(_ offset: Duration, _ uncertainty: Duration) -> Finding {
        let milliseconds = offset.microseconds / 1000
        let found = "the database is \(abs(milliseconds)) ms \(milliseconds < 0 ? "behind" : "ahead")"
        let certain = max(.zero, (offset < .zero ? .zero - offset : offset) - uncertainty)
        let remedy = "let chrony or systemd-timesyncd keep both machines' time"
        if certain >= .seconds(30) { return .wrong("clock difference", found, remedy: remedy) }
        if certain >= .seconds(2) { return .advice("clock difference", found, remedy: remedy) }
        return .ok("clock difference", found)
    }
}

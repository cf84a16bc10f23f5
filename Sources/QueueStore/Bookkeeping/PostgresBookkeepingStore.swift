import Domain
import Logging
import Postgres

/// The books in PostgreSQL, on connections of their own: counting takes longer than a rescue may wait.
package struct PostgresBookkeepingStore: BookkeepingStore {
    let client: PostgresClient
    let owner: PostgresClient

    /// - Parameter owner: with the login that owns the tables: the days' copies and their end alone go through it.
    package init(client: PostgresClient, owner: PostgresClient) {
        self.client = client
        self.owner = owner
    }

    package func shards() async throws -> [Shard] { try await client.shards() }

    package func fold(shard: Shard) async throws -> Int64 {
        try await client.query("SELECT pushfleet.fold(\(shard.rawValue))", deadline: .seconds(300))[0].int64(0)
    }

    package func countTokens() async throws {
        _ = try await client.query("SELECT pushfleet.count_tokens()::text", deadline: .seconds(600))
    }

    package func auditNext() async throws -> RunAudit? {
        try await client.query("SELECT run_id, problems FROM pushfleet.audit_next()", deadline: .seconds(600)).first.map
        {
            RunAudit(run: Run.ID($0.int64(0)), problems: Int($0.int32(1)))
        }
    }

    package func expiredDays() async throws -> [ExpiredDay] {
        let rows = try await client.query(
            "SELECT parent, child, is_pending, is_detached FROM pushfleet.expired_days()")
        return rows.map {
            ExpiredDay(
                table: $0.string(0), partition: $0.string(1), isHalfDetached: $0.bool(2), isDetached: $0.bool(3))
        }
    }

    package func mayDropDays() async throws -> Bool {
        let query: PostgresQuery = """
            SELECT pg_has_role(current_user, c.relowner, 'USAGE')
            FROM pg_class c
            WHERE c.oid = 'pushfleet.delivery'::regclass
            """
        return try await owner.query(query)[0].bool(0)
    }

    package func export(_ day: ExpiredDay, to body: @Sendable ([UInt8]) async throws -> Void) async throws {
        try await owner.withConnection(deadline: .seconds(3600)) { connection in
            _ = try await connection.copyOut(
                "COPY (SELECT * FROM pushfleet.\(unescaped: day.partition)) TO STDOUT WITH (FORMAT csv, HEADER)",
                deadline: .seconds(3600), body)
        }
    }

    package func drop(_ day: ExpiredDay) async throws {
        if !day.isDetached {
            let how = day.isHalfDetached ? "FINALIZE" : "CONCURRENTLY"
            _ = try await owner.query(
                """
                ALTER TABLE pushfleet.\(unescaped: day.table)
                DETACH PARTITION pushfleet.\(unescaped: day.partition) \(unescaped: how)
                """, deadline: .seconds(600))
        }
        // Another janitor may have found it detached.
        _ = try await owner.query("DROP TABLE IF EXISTS pushfleet.\(unescaped: day.partition)", deadline: .seconds(60))
    }

    package func forgetOld() async throws -> Int64 {
        try await client.query("SELECT pushfleet.forget_old(5000)", deadline: .seconds(60))[0].int64(0)
    }
}

import Postgres

/// Holds an advisory lock, so that a statement that wants it waits, observably, for as long as a test likes.
struct Blocking {
    let holder: PostgresConnection
    let key: Int64

    /// A statement that waits while the lock is held.
    var statement: PostgresQuery { "SELECT pg_advisory_xact_lock(\(key)), pg_backend_pid()" }

    static func run<Result>(
        _ key: Int64, _ body: (Blocking) async throws -> Result
    ) async throws -> Result {
        try await TestServer.withConnection { holder in
            _ = try await holder.query("SELECT pg_advisory_lock(\(key))")
            return try await body(Blocking(holder: holder, key: key))
        }
    }

    /// Returns when that many statements wait for the lock.
    func untilBlocked(_ count: Int = 1) async throws {
        try await until { try await waiting().count == count }
    }

    /// Returns when the condition holds; the suite's time limit bounds it.
    func until(_ condition: () async throws -> Bool) async throws {
        while try await condition() == false { await Task.yield() }
    }

    /// Ends the connections whose statements wait for the lock, as an administrator does.
    func terminateBlocked() async throws {
        for process in try await waiting() {
            _ = try await holder.query("SELECT pg_terminate_backend(\(process))")
        }
    }

    func release() async throws {
        _ = try await holder.query("SELECT pg_advisory_unlock(\(key))")
    }

    private func waiting() async throws -> [Int32] {
        try await holder.query(
            """
            SELECT pid FROM pg_locks
            WHERE locktype = 'advisory' AND NOT granted AND (classid::bigint << 32) + objid::bigint = \(key)
            """
        ).map { $0.int32(0) }
    }
}

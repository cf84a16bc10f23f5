import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct TransactionTests {
    private struct Refusal: Error {}

    /// One connection, so that its temporary table is there for every statement.
    private func withTable(_ body: (PostgresClient) async throws -> Void) async throws {
        try await TestServer.withClient { client in
            _ = try await client.query("CREATE TEMPORARY TABLE t (id int PRIMARY KEY)")
            try await body(client)
        }
    }

    private func ids(_ client: PostgresClient) async throws -> [Int32] {
        try await client.query("SELECT id FROM t ORDER BY id").map { $0.int32(0) }
    }

    @Test func `what returns is committed, and what throws is rolled back`() async throws {
        try await withTable { client in
            let result = try await client.withTransaction { connection in
                _ = try await connection.query("INSERT INTO t VALUES (1)")
                return try await connection.query("INSERT INTO t VALUES (2)").affected
            }
            #expect(result == 1)
            await #expect(throws: Refusal.self) {
                try await client.withTransaction { connection in
                    _ = try await connection.query("INSERT INTO t VALUES (3)")
                    throw Refusal()
                }
            }
            #expect(try await ids(client) == [1, 2])
        }
    }

    @Test func `a statement that fails rolls back and is the error`() async throws {
        try await withTable { client in
            let error = await errorOf {
                try await client.withTransaction { connection in
                    _ = try await connection.query("INSERT INTO t VALUES (1)")
                    _ = try await connection.query("INSERT INTO t VALUES (1)")
                }
            }
            #expect(error?.code == .uniqueViolation)
            let rows = try await ids(client)
            #expect(rows.isEmpty)
        }
    }

    @Test func `a commit that did nothing is an error`() async throws {
        try await withTable { client in
            let error = await errorOf {
                try await client.withTransaction { connection in
                    _ = try await connection.query("INSERT INTO t VALUES (1)")
                    // An error that is swallowed does not make the transaction whole.
                    let failure = await errorOf { try await connection.query("SELECT 1 / 0") }
                    #expect(failure?.code == .invalidValue)
                }
            }
            #expect(error?.code == .failedTransaction && error?.mayHaveTakenEffect == false)
            let rows = try await ids(client)
            #expect(rows.isEmpty)
        }
    }

    @Test func `a connection that ends before the commit leaves no doubt`() async throws {
        try await Blocking.run(301) { blocking in
            try await TestServer.withClient { client in
                async let outcome: PostgresError? = {
                    do {
                        try await client.withTransaction { _ = try await $0.query(blocking.statement) }
                        return nil
                    } catch {
                        return error as? PostgresError
                    }
                }()
                try await blocking.untilBlocked()
                try await blocking.terminateBlocked()
                let error = try #require(await outcome)
                #expect(error.code == .connectionLost && !error.mayHaveTakenEffect)
                let rows = try await client.query("SELECT 1")
                #expect(rows.count == 1)
            }
        }
    }

    @Test func `a transaction begins on a connection that is open`() async throws {
        try await TestServer.withRelayedClient { client, relay in
            _ = try await client.query("SELECT 1")
            relay.goDown()
            try relay.comeBack()
            let count = try await client.withTransaction { try await $0.query("SELECT 1").count }
            #expect(count == 1)
        }
    }
}

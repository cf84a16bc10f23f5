import TestSupport
import Testing
import Threading

@testable import Postgres

@Suite(.timeLimit(.minutes(1))) struct FaultTests {
    @Test(arguments: [true, false])
    func `a deadline that passes cancels the statement and closes the connection, and the next one works`(
        prepared: Bool
    ) async throws {
        try await Blocking.run(prepared ? 101 : 102) { blocking in
            try await TestServer.withClient(preparedStatements: prepared) { client in
                let before = try await client.query("SELECT pg_backend_pid()")[0].int32(0)
                let error = try #require(
                    await errorOf {
                        try await client.query(blocking.statement, deadline: .milliseconds(50))
                    })
                #expect(error.code == .deadlineExceeded && error.mayHaveTakenEffect && !error.isTransient)
                #expect(!client.isReady)
                try await blocking.until {
                    try await blocking.holder.query("SELECT 1 FROM pg_stat_activity WHERE pid = \(before)").isEmpty
                }
                #expect(try await client.query("SELECT pg_backend_pid()")[0].int32(0) != before)
            }
        }
    }

    @Test func `nothing is sent when the deadline has passed, and the connection stays`() async throws {
        try await TestServer.withConnection { connection in
            let error = try #require(
                await errorOf { try await connection.query("SELECT 1", deadline: .zero) })
            #expect(error.code == .deadlineExceeded && !error.mayHaveTakenEffect)
            let rows = try await connection.query("SELECT 1")
            #expect(rows.count == 1)
        }
    }

    @Test func `a connection that ends under a statement may have executed it, and the next statement works`()
        async throws
    {
        try await Blocking.run(103) { blocking in
            try await TestServer.withClient { client in
                async let outcome = errorOf { try await client.query(blocking.statement) }
                try await blocking.untilBlocked()
                try await blocking.terminateBlocked()
                let error = try #require(await outcome)
                #expect(error.code == .connectionLost && error.mayHaveTakenEffect && error.isTransient)
                #expect(error.sqlState == "57P01")
                let rows = try await client.query("SELECT 1")
                #expect(rows.count == 1)
            }
        }
    }

    @Test func `the server's goodbye ends a statement, before it hangs up`() async throws {
        try await Blocking.run(104) { blocking in
            try await TestServer.withRelayedClient { client, relay in
                relay.holdHangUps()
                async let outcome = errorOf { try await client.query(blocking.statement, deadline: .seconds(50)) }
                try await blocking.untilBlocked()
                try await blocking.terminateBlocked()
                let error = try #require(await outcome)
                #expect(error.code == .connectionLost && error.mayHaveTakenEffect)
            }
        }
    }

    @Test(arguments: [true, false]) func `a connection that ended while it lay idle costs no statement`(
        hungUp: Bool
    ) async throws {
        try await TestServer.withRelayedClient { client, relay in
            // A server says goodbye some time before it hangs up.
            if !hungUp { relay.holdHangUps() }
            let process = try await client.query("SELECT pg_backend_pid()")[0].int32(0)
            try await TestServer.withConnection { other in
                _ = try await other.query("SELECT pg_terminate_backend(\(process))")
            }
            while relay.goodbyes == 0 || (hungUp && relay.hangUps == 0) { await Task.yield() }
            let row = try await client.query("SELECT pg_backend_pid()")[0]
            #expect(row.int32(0) != process)
        }
    }

    @Test func `a network that falls silent is noticed by the deadline`() async throws {
        try await TestServer.withRelayedClient { client, relay in
            _ = try await client.query("SELECT 1")
            relay.fallSilent()
            let start = ContinuousClock.now
            let error = try #require(
                await errorOf {
                    try await client.query("SELECT 1", deadline: .milliseconds(200))
                })
            #expect(error.code == .deadlineExceeded && error.mayHaveTakenEffect)
            #expect(ContinuousClock.now - start < .seconds(2))
            let second = try #require(
                await errorOf {
                    try await client.query("SELECT 1", deadline: .milliseconds(200))
                })
            #expect(second.code == .connectionFailed && !second.mayHaveTakenEffect)
            relay.goDown()
            try relay.comeBack()
            let rows = try await client.query("SELECT 1")
            #expect(rows.count == 1)
        }
    }

    @Test(arguments: [(0, 0), (30, 0), (400, 1)])
    func `only a call that gave the server time to answer tells of an outage`(
        milliseconds: Int, failures: Int
    ) async throws {
        try await TestServer.withRelayedClient { client, relay in
            relay.fallSilent()
            let error = await errorOf {
                try await client.query("SELECT 1", deadline: .milliseconds(milliseconds))
            }
            #expect(error?.code == .connectionFailed)
            #expect(client.gate.withLock { $0.failures } == failures)
        }
    }

    @Test func `queries wait out a restart, and go out within a second of the server's return`() async throws {
        try await TestServer.withRelayedClient(connections: 2) { client, relay in
            _ = try await client.query("SELECT 1")
            relay.goDown()
            let early = try #require(
                await errorOf {
                    try await client.query("SELECT 1", deadline: .milliseconds(1500))
                })
            #expect(early.code == .connectionFailed && early.message.contains("Connection refused"))
            #expect(!client.isReady)
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in Int64(0)..<10 {
                    group.addTask { try await client.query("SELECT \(number)")[0].int64(0) }
                }
                try relay.comeBack()
                let start = ContinuousClock.now
                let answers = try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
                #expect(answers == Set(0..<10))
                #expect(ContinuousClock.now - start < .seconds(1))
            }
            #expect(client.isReady)
        }
    }

    @Test func `attempts to connect keep their distance while they fail`() async throws {
        let client = PostgresClient(
            PostgresConfiguration("postgresql://ann@127.0.0.1:1/push"), connections: 4, logger: TestServer.logger)
        let outcomes = await withTaskGroup(of: PostgresError?.self) { group in
            for _ in 0..<20 {
                group.addTask { await errorOf { try await client.query("SELECT 1", deadline: .seconds(1)) } }
            }
            return await group.reduce(into: []) { $0.append($1?.code) }
        }
        #expect(outcomes == Array(repeating: .connectionFailed, count: 20))
        #expect(client.gate.withLock { (2...12).contains($0.failures) })
    }

    @Test func `a plan that a migration made stale is made again`() async throws {
        try await TestServer.withConnection { connection in
            _ = try await connection.query("CREATE TEMPORARY TABLE t (a int)")
            _ = try await connection.query("SELECT * FROM t")
            _ = try await connection.query("ALTER TABLE t ADD b int")
            _ = try await connection.query("SELECT * FROM t")
            _ = try await connection.query("DEALLOCATE ALL")
            _ = try await connection.query("SELECT * FROM t")
            // In a transaction the statement's failure fails it all: the caller begins anew.
            _ = try await connection.query("ALTER TABLE t ADD c int")
            for _ in 0..<2 { _ = try await connection.query("SELECT * FROM t") }
            _ = try await connection.query("BEGIN")
            _ = try await connection.query("ALTER TABLE t ADD d int")
            let error = await errorOf { try await connection.query("SELECT * FROM t") }
            #expect(error?.code == .staleStatement && error?.isTransient == true)
            _ = try await connection.query("ROLLBACK")
            let rows = try await connection.query("SELECT * FROM t")
            #expect(rows.isEmpty)
        }
    }

    @Test func `a name that a pooler's server session has already is no problem`() async throws {
        try await TestServer.withConnection { connection in
            let key = String(PreparedStatements.key("SELECT 7"), radix: 16)
            _ = try await connection.query("PREPARE \(unescaped: "p\(key)_0") AS SELECT 8")
            let rows = try await connection.query("SELECT 7")
            #expect(rows[0].int32(0) == 7)
        }
    }

    @Test func `a server that became read-only is left for another connection`() async throws {
        try await TestServer.withClient { client in
            _ = try await client.query("SET default_transaction_read_only = on")
            let refusal = await errorOf { try await client.query("CREATE TABLE never ()") }
            #expect(refusal?.code == .readOnly && refusal?.isTransient == true)
            let rows = try await client.query("SHOW default_transaction_read_only")
            #expect(rows[0].string(0) == "off")
        }
    }

    @Test func `more texts than a connection keeps prepared are no problem`() async throws {
        try await TestServer.withConnection { connection in
            for number in 0..<PreparedStatements.limit * 2 + 10 {
                let rows = try await connection.query("SELECT \(unescaped: String(number))")
                #expect(rows[0].int32(0) == number)
            }
            let kept = try await connection.query("SELECT count(*) FROM pg_prepared_statements")
            #expect(kept[0].int64(0) <= PreparedStatements.limit)
        }
    }
}

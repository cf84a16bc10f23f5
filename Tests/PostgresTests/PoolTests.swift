import ServiceLifecycle
import TestSupport
import Testing
import Threading

@testable import Postgres

@Suite(.timeLimit(.minutes(1))) struct PoolTests {
    @Test(arguments: [1, 3]) func `fifty racing queries all get their own answer over a few connections`(
        connections: Int
    ) async throws {
        try await TestServer.withClient(connections: connections) { client in
            try await withThrowingTaskGroup(of: (Int64, Int64, Int32).self) { group in
                for number in Int64(0)..<50 {
                    group.addTask {
                        let row = try await client.query("SELECT \(number), pg_backend_pid()")[0]
                        return (number, row.int64(0), row.int32(1))
                    }
                }
                var processes: Set<Int32> = []
                for try await (asked, answered, process) in group {
                    #expect(asked == answered)
                    processes.insert(process)
                }
                #expect((1...connections).contains(processes.count))
            }
        }
    }

    @Test func `who waits is served in the order of coming`() async throws {
        try await TestServer.withClient { client in
            let order = Locked<[Int]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                try await client.withConnection { _ in
                    for number in 0..<10 {
                        group.addTask {
                            try await client.withConnection { _ in order.withLock { $0.append(number) } }
                        }
                        while client.leases.withLock({ $0.waiting }) <= number { await Task.yield() }
                    }
                }
                try await group.waitForAll()
            }
            #expect(order.withLock { $0 } == Array(0..<10))
        }
    }

    @Test func `waiting in line ends with the deadline or the task, and leaves the line`() async throws {
        try await TestServer.withClient { client in
            try await client.withConnection { _ in
                let late = await errorOf { try await client.query("SELECT 1", deadline: .milliseconds(30)) }
                #expect(late?.code == .deadlineExceeded && late?.mayHaveTakenEffect == false)
                await withTaskGroup(of: PostgresError?.self) { group in
                    group.addTask { await errorOf { try await client.query("SELECT 1") } }
                    while client.leases.withLock({ $0.waiting }) == 0 { await Task.yield() }
                    group.cancelAll()
                    let cancelled = await group.next()
                    #expect(cancelled??.code == .queryCanceled)
                }
                #expect(client.leases.withLock { $0.waiting } == 0)
            }
            let rows = try await client.query("SELECT 1")
            #expect(rows.count == 1)
        }
    }

    @Test func `what is left open on a lent connection ends with it`() async throws {
        try await TestServer.withClient { client in
            let process = try await client.withConnection { connection in
                _ = try await connection.query("BEGIN")
                return try await connection.query("SELECT pg_backend_pid()")[0].int32(0)
            }
            let row = try await client.query("SELECT pg_backend_pid(), pg_current_xact_id_if_assigned() IS NULL")[0]
            #expect(row.int32(0) != process)
        }
    }

    @Test func `a lent connection is open, even if the server closed it while it lay idle`() async throws {
        try await TestServer.withRelayedClient { client, relay in
            _ = try await client.query("SELECT 1")
            relay.goDown()
            try relay.comeBack()
            let count = try await client.withConnection { try await $0.query("SELECT 1").count }
            #expect(count == 1)
        }
    }

    @Test func `a closed client turns calls away`() async throws {
        let client = PostgresClient(try TestServer.configuration(), connections: 1, logger: TestServer.logger)
        _ = try await client.query("SELECT 1")
        await client.close()
        let error = await errorOf { try await client.query("SELECT 1") }
        #expect(error?.code == .closed && error?.isTransient == false && !client.isReady)
    }

    @Test func `closing lets what is under way end`() async throws {
        try await Blocking.run(201) { blocking in
            let client = PostgresClient(try TestServer.configuration(), connections: 1, logger: TestServer.logger)
            async let answer = client.query(blocking.statement)
            try await blocking.untilBlocked()
            async let closed: Void = client.close()
            while !client.leases.withLock({ $0.isClosed }) { await Task.yield() }
            try await blocking.release()
            #expect(try await answer.count == 1)
            await closed
            #expect(!client.isReady)
        }
    }

    @Test func `run keeps a connection open and closes on graceful shutdown`() async throws {
        let client = PostgresClient(try TestServer.configuration(), connections: 2, logger: TestServer.logger)
        #expect(!client.isReady)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await client.run() }
                while !client.isReady { await Task.yield() }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        let error = await errorOf { try await client.query("SELECT 1") }
        #expect(error?.code == .closed)
    }

    @Test func `run finds that the server went and came back, with no query to tell`() async throws {
        try await TestServer.withRelayedClient(connections: 2) { client, relay in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await client.run() }
                while !client.isReady { await Task.yield() }
                relay.goDown()
                while client.isReady { await Task.yield() }
                try relay.comeBack()
                while !client.isReady { await Task.yield() }
                group.cancelAll()
                try await group.waitForAll()
            }
            // Cancelled, it leaves the connections to those who have something to record yet.
            let rows = try await client.query("SELECT 1")
            #expect(rows.count == 1)
        }
    }
}

import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

/// A batch becomes ready at an old tag while the low mark moves: the four orders of the two.
@Suite(.timeLimit(.minutes(2))) struct WatermarkTests {
    enum Act: CaseIterable { case handBack, rebatch, promote }

    @Test(arguments: Act.allCases)
    func `a batch that returns to ready before the mark is raised is claimed`(act: Act) async throws {
        try await withReturningBatch(act) { queue, run, statement in
            try await queue.database.withClient(connections: 1) { other in
                let (entered, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await other.withTransaction { connection in
                            _ = try await connection.query(statement)
                            entered.continuation.finish()
                            for await _ in release.stream {}
                        }
                    }
                    for await _ in entered.stream {}
                    group.addTask { try await queue.housekeeping.raiseWatermarks(shard: queue.shard) }
                    try await queue.waitForLockWaiter()
                    release.continuation.finish()
                    try await group.waitForAll()
                }
            }
            try await expectClaimed(queue, run)
        }
    }

    @Test(arguments: Act.allCases)
    func `a batch that returns to ready after the mark was locked is claimed`(act: Act) async throws {
        try await withReturningBatch(act) { queue, run, statement in
            let pair = Pair(run: run, route: queue.route)
            try await queue.database.withClient(connections: 1) { other in
                let (entered, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await other.withTransaction { connection in
                            _ = try await connection.query(.lockWatermark(of: pair, shard: queue.shard))
                            _ = try await connection.query(.raiseWatermark(of: pair, shard: queue.shard))
                            entered.continuation.finish()
                            for await _ in release.stream {}
                        }
                    }
                    for await _ in entered.stream {}
                    group.addTask { _ = try await queue.client.query(statement) }
                    try await queue.waitForLockWaiter()
                    release.continuation.finish()
                    try await group.waitForAll()
                }
            }
            try await expectClaimed(queue, run)
        }
    }

    @Test func `a drained pair's mark passes its last tag, and what comes next is claimed`() async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            let run = try await queue.makeRun()
            _ = try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 20)
            let worker = try await queue.hire()
            for number in 1...2 as ClosedRange<Int32> {
                let batch = try #require(try await queue.claim(run, worker, number: number))
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                try await queue.flush(batch, worker, jobs, as: .delivered, answered: number)
            }
            try await queue.housekeeping.raiseWatermarks(shard: queue.shard)
            #expect(try await queue.count("SELECT low_tag - last_tag FROM pushfleet.run_route") == 1)
            try await queue.expand(run, pageSize: 20)
            #expect(try await queue.claim(run, worker, number: 3) != nil)
        }
    }

    @Test func `a mark above a ready batch is found, counted and lowered to it`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            _ = try await queue.client.query(
                "UPDATE pushfleet.run_route SET low_tag = (SELECT max(tag) + 1 FROM pushfleet.batch)")
            #expect(try await queue.housekeeping.sweep(shard: queue.shard) == 1)
            let above: PostgresQuery =
                "SELECT low_tag - (SELECT min(tag) FROM pushfleet.batch) FROM pushfleet.run_route"
            #expect(try await queue.count(above) == 0)
            try await expectClaimed(queue, run)
        }
    }

    /// Gives a statement that makes a batch ready at the pair's first tag.
    private func withReturningBatch(
        _ act: Act, _ body: (QueueFixture, Run.ID, PostgresQuery) async throws -> Void
    ) async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            if act == .promote {
                _ = try await queue.client.query(
                    """
                    UPDATE pushfleet.batch SET state = 5, due_at = now() - interval '1 s'
                    WHERE tag = (SELECT min(tag) FROM pushfleet.batch)
                    """)
                return try await body(queue, run, .promote(shard: queue.shard, limit: 10))
            }
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            switch act {
            case .promote: break
            case .handBack:
                let statement = FreeStatement(
                    shard: queue.shard, bucket: batch.bucket, holder: worker, ids: [batch.id.rawValue],
                    epochs: [batch.epoch], begun: [0], lapsedFor: nil, notBefore: nil)
                try await body(queue, run, statement.query)
            case .rebatch:
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                try await queue.flush(batch, worker, jobs, as: nil)
                _ = try await queue.client.query("UPDATE pushfleet.retry SET due_at = now() - interval '2 s'")
                let row = try await queue.client.query(.dueRetries(of: queue.shard))[0]
                let group = RetryGroup(row)
                try await body(
                    queue, run, RebatchStatement(group: group, shard: queue.shard, limit: 500).query)
            }
        }
    }

    /// All four batches of the run can be claimed, however the mark lies.
    private func expectClaimed(_ queue: QueueFixture, _ run: Run.ID) async throws {
        #expect(try await queue.housekeeping.sweep(shard: queue.shard) == 0)
        let worker = try await queue.hire()
        for number in 1...4 as ClosedRange<Int32> {
            #expect(try await queue.claim(run, worker, number: number) != nil)
        }
    }
}

extension QueueFixture {
    /// Until a statement of this database waits for another's lock.
    func waitForLockWaiter() async throws {
        let limit = ContinuousClock.now + .seconds(20)
        while try await count(
            """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
            """) == 0
        {
            try #require(ContinuousClock.now < limit, "No statement waits for a lock.")
        }
    }
}

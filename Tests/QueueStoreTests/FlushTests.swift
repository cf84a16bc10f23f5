import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct FlushTests {
    /// A claimed batch of ten and its jobs.
    private func withBatch(
        attempts: Int16 = 8, policy: InDoubtPolicy = .retry,
        _ body: (QueueFixture, Run.ID, WorkerID, ClaimedBatch, [PushJob]) async throws -> Void
    ) async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun(policy: policy, attempts: attempts)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            try await body(queue, run, worker, batch, try await queue.batches.jobs(of: batch, attributes: []))
        }
    }

    @Test func `a flush repeated because its reply was lost changes nothing`() async throws {
        try await withBatch { queue, run, worker, batch, jobs in
            let first = try await queue.flush(batch, worker, jobs.prefix(6), as: .delivered)
            let again = try await queue.flush(batch, worker, jobs.prefix(6), as: .failed)
            #expect(first.map(\.state) == [.leased] && again.map(\.state) == [.leased])
            let accounting = try await queue.accounting(run)
            #expect(accounting.delivered == 6 && accounting.failed == 0 && accounting.leased == 4)
        }
    }

    @Test func `equal flushes at once count once`() async throws {
        try await withBatch { queue, run, worker, batch, jobs in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { try await queue.flush(batch, worker, jobs, as: .delivered) } }
                try await group.waitForAll()
            }
            #expect(try await queue.accounting(run).delivered == 10)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.delivery") == 10)
        }
    }

    @Test func `a stale epoch changes nothing and gets no row`() async throws {
        try await withBatch { queue, run, worker, batch, jobs in
            var stale = batch
            stale.epoch -= 1
            #expect(try await queue.flush(stale, worker, jobs, as: .delivered).isEmpty)
            let stranger = try await queue.hire()
            #expect(try await queue.flush(batch, stranger, jobs, as: .delivered).isEmpty)
            #expect(try await queue.accounting(run).delivered == 0)
        }
    }

    @Test func `an ordinal beyond the batch is refused, and nothing of its flush counts`() async throws {
        try await withBatch { queue, run, worker, batch, jobs in
            await #expect(throws: PostgresError.self) {
                try await queue.flush(batch, worker, jobs, as: .delivered) { if $0.ordinal == 9 { $0.ordinal = 77 } }
            }
            await #expect(throws: PostgresError.self) {
                try await queue.flush(batch, worker, jobs + jobs, as: .delivered)
            }
            let accounting = try await queue.accounting(run)
            #expect(accounting.leased == 10)
        }
    }

    @Test func `the last bit closes the batch`() async throws {
        try await withBatch { queue, run, worker, batch, jobs in
            #expect(try await queue.flush(batch, worker, jobs, as: .delivered).map(\.state) == [.done])
            #expect(try await queue.flush(batch, worker, jobs, as: .delivered).isEmpty)
            try await queue.schedule.refreshHeads(of: queue.shard, lane: .campaign)
            #expect(try await queue.housekeeping.closeRuns() == 1)
            #expect(try await queue.accounting(run).delivered == 10)
        }
    }

    @Test func `a retry goes into a later batch under the same number`() async throws {
        try await withBatch { queue, run, worker, batch, jobs in
            try await queue.flush(batch, worker, jobs.prefix(7), as: .delivered)
            try await queue.flush(batch, worker, jobs.suffix(3), as: nil) { $0.reason = .fcmUnavailable }
            #expect(try await queue.accounting(run).retrying == 3)
            _ = try await queue.client.query("UPDATE pushfleet.retry SET due_at = now() - interval '2 s'")
            #expect(try await queue.schedule.rebatch(shard: queue.shard, limit: 500) == 3)
            let next = try #require(try await queue.claim(run, worker, number: 2))
            let again = try await queue.batches.jobs(of: next, attributes: [])
            #expect(again.map(\.number) == jobs.suffix(3).map(\.number))
            #expect(again.allSatisfy { $0.attempts == 1 })
            #expect(next.contentVersion == batch.contentVersion && next.expiresAt == batch.expiresAt)
        }
    }

    @Test func `attempts that are spent end as failed, free ones do not count`() async throws {
        try await withBatch(attempts: 1) { queue, run, worker, batch, jobs in
            try await queue.flush(batch, worker, jobs.prefix(4), as: nil)
            try await queue.flush(batch, worker, jobs.suffix(6), as: nil) { $0.free = true }
            let accounting = try await queue.accounting(run)
            #expect(accounting.failed == 4 && accounting.retrying == 6)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.delivery WHERE reason = 4") == 4)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.retry WHERE due_at <= now()") == 6)
        }
    }

    @Test(arguments: [InDoubtPolicy.retry, .assumeSent])
    func `a job that may have left is repeated or in doubt, as its campaign asks`(policy: InDoubtPolicy) async throws {
        try await withBatch(policy: policy) { queue, run, worker, batch, jobs in
            try await queue.flush(batch, worker, jobs, as: nil) {
                $0.mayHaveLeft = true
                $0.reason = .timedOut
            }
            let accounting = try await queue.accounting(run)
            #expect(accounting.retrying == (policy == .retry ? 10 : 0))
            #expect(accounting.inDoubt == (policy == .retry ? 0 : 10))
            #expect(accounting.repeatBound == (policy == .retry ? 10 : 0))
        }
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// The process ends between two statements: nothing is lost, every job ends with one outcome.
@Suite(.timeLimit(.minutes(2))) struct CrashTests {
    private struct Crash: Error {}

    /// What a worker does with one batch, a statement at a time.
    private func work(_ queue: QueueFixture, _ run: Run.ID, until step: Int) async throws {
        var done = 0
        func pass() throws {
            done += 1
            if done > step { throw Crash() }
        }
        let worker = try await queue.hire()
        try pass()
        guard let batch = try await queue.claim(run, worker) else { return }
        try pass()
        let jobs = try await queue.batches.jobs(of: batch, attributes: [])
        try pass()
        try await queue.flush(batch, worker, jobs.prefix(5), as: .delivered)
        try pass()
        try await queue.flush(batch, worker, jobs.dropFirst(5).prefix(2), as: nil) { $0.free = true }
        try pass()
        try await queue.batches.handBack(batch, begun: 8, notBefore: nil, worker: worker)
        try pass()
    }

    @Test(arguments: 0...6) func `a worker that dies between any two statements loses nothing`(step: Int) async throws {
        try await QueueFixture.run(subscribers: 20) { queue in
            let run = try await queue.makeRun()
            do {
                _ = try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 12)
                try await work(queue, run, until: step)
            } catch is Crash {
                // As if the process were gone.
            }
            for row in try await queue.client.query("SELECT id FROM pushfleet.worker") {
                try await queue.bury(WorkerID(row.uuid(0)))
            }
            try await queue.expand(run)
            try await finish(queue, run)
            let accounting = try await queue.accounting(run)
            #expect(accounting.targeted == 20 && accounting.delivered == 20)
            #expect(try await queue.count("SELECT count(DISTINCT number) FROM pushfleet.delivery") == 20)
        }
    }

    /// Another worker sends what is left.
    private func finish(_ queue: QueueFixture, _ run: Run.ID) async throws {
        let worker = try await queue.hire()
        var number: Int32 = 0
        while try await queue.accounting(run).delivered < 20 {
            _ = try await queue.client.query("UPDATE pushfleet.retry SET due_at = now() - interval '2 s'")
            _ = try await queue.schedule.rebatch(shard: queue.shard, limit: 100)
            number += 1
            let batch = try #require(try await queue.claim(run, worker, number: number))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs, as: .delivered, answered: number)
        }
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct RescueTests {
    @Test func `what was announced and not recorded is doubtful, the rest is simply sent by the next holder`()
        async throws
    {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun(policy: .assumeSent, window: 3)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            #expect(batch.announced == 3 && batch.policy == .assumeSent && batch.announceWindow == 3)
            try await queue.bury(worker)
            let accounting = try await queue.accounting(run)
            #expect(accounting.inDoubt == 3 && accounting.pending == 7)
            // The fence holds.
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            #expect(try await queue.flush(batch, worker, jobs, as: .delivered).isEmpty)
        }
    }

    @Test func `a third lapse names the poisonous job, once it was announced alone`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            for lapse in 0..<4 {
                let worker = try await queue.hire()
                let batch = try #require(try await queue.claim(run, worker))
                #expect(Int(batch.lapses) == lapse)
                #expect(batch.announced == (lapse < 2 ? 10 : 0))
                #expect(batch.announceWindow == (lapse < 2 ? 5000 : 1))
                // A death before anything of it was announced speaks against none of its jobs.
                if lapse == 2 { #expect(try await queue.count("SELECT count(*) FROM pushfleet.delivery") == 0) }
                if lapse == 3 { try await queue.announce(1, of: batch, worker) }
                try await queue.bury(worker)
            }
            let found = try await queue.client.query("SELECT number, outcome, reason FROM pushfleet.delivery")
            #expect(found.count == 1 && found[0].int16(1) == Outcome.inDoubt.rawValue)
            #expect(found[0].int16(2) == Reason.poison.rawValue)
            #expect(try await queue.accounting(run).pending == 9)
        }
    }

    @Test func `a hand-back costs no attempts, and only what had begun is doubtful`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            try await queue.batches.handBack(batch, begun: 4, notBefore: nil, worker: worker)
            // A repeat because the reply was lost changes nothing.
            try await queue.batches.handBack(batch, begun: 10, notBefore: nil, worker: worker)
            let next = try #require(try await queue.claim(run, worker, number: 2))
            #expect(next.id == batch.id && next.epoch == 2 && next.lapses == 0)
            let jobs = try await queue.batches.jobs(of: next, attributes: [])
            #expect(jobs.count == 10 && jobs.allSatisfy { $0.attempts == 0 })
            #expect(try await queue.accounting(run).repeatBound == 4)
            // Refused now, after an earlier doubt: nobody can say that it did not leave.
            try await queue.flush(next, worker, jobs, as: .failed, answered: 2)
            let accounting = try await queue.accounting(run)
            #expect(accounting.inDoubt == 4 && accounting.failed == 6)
        }
    }

    @Test func `a batch that was handed back for later waits`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            try await queue.batches.handBack(batch, begun: 0, notBefore: .seconds(600), worker: worker)
            #expect(try await queue.claim(run, worker, number: 2) == nil)
            #expect(try await queue.accounting(run).pending == 10)
        }
    }

    @Test func `a janitor that looked away starts its sightings anew`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            _ = try #require(try await queue.claim(run, worker))
            let janitor = WorkerID(UUID().uuidString)
            try await queue.lapse(worker)
            try await queue.housekeeping.sight(as: janitor, longestGap: .seconds(3))
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.worker
                SET sighted_first_at = now() - interval '9 s', sighted_last_at = now() - interval '5 s'
                """)
            try await queue.housekeeping.sight(as: janitor, longestGap: .seconds(3))
            #expect(try await queue.housekeeping.rescue(shard: queue.shard, span: .seconds(5)) == 0)
        }
    }

    @Test func `a lapsed worker that beats again before it is rescued keeps its batch`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            try await queue.lapse(worker)
            try await queue.housekeeping.sight(as: WorkerID(UUID().uuidString), longestGap: .seconds(3))
            #expect(try await queue.flush(batch, worker, [], as: .delivered).count == 1)
            #expect(try await queue.housekeeping.rescue(shard: queue.shard, span: .zero) == 0)
        }
    }
}

extension QueueFixture {
    func announce(_ ordinals: Int32, of batch: ClaimedBatch, _ worker: WorkerID) async throws {
        let held = Flush.Held(batch: batch.id, epoch: batch.epoch, announce: ordinals)
        _ = try await batches.flush(
            Flush(shard: shard, answeredClaims: 1, checkedClaims: 0, held: [held], items: []), worker: worker,
            lease: .seconds(600))
    }

    func lapse(_ worker: WorkerID) async throws {
        _ = try await client.query(
            """
            UPDATE pushfleet.worker SET lease_until = now() - interval '1 s'
            WHERE id = \(PostgresUUID(worker.description))
            """)
    }

    /// The worker dies, a janitor sees it twice, and its batches go back.
    func bury(_ worker: WorkerID) async throws {
        try await lapse(worker)
        let janitor = WorkerID(UUID().uuidString)
        try await housekeeping.sight(as: janitor, longestGap: .seconds(60))
        try await housekeeping.sight(as: janitor, longestGap: .seconds(60))
        _ = try await housekeeping.rescue(shard: shard, span: .zero)
    }
}

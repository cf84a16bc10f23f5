import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// A worker that dies as soon as one job is begun.
@Suite(.timeLimit(.minutes(2))) struct PoisonTests {
    /// One life of a worker: claims, sends what is announced job by job, records each, and announces on.
    /// - Returns: whether it died of the poison.
    private func live(_ run: Run.ID, dyingOf poison: Int64, _ queue: QueueFixture) async throws -> Bool {
        let worker = try await queue.hire()
        guard let batch = try await queue.claim(run, worker) else { return false }
        var announced = batch.announced
        let jobs = try await queue.batches.jobs(of: batch, attributes: [])
        // Of a suspect batch the claim announced nothing.
        if let first = jobs.first.map({ Int($0.ordinal) }), first >= announced {
            #expect(batch.lapses >= 2)
            announced = first + 1
            try await queue.announce(Int32(announced), of: batch, worker)
        }
        for job in jobs {
            #expect(Int(job.ordinal) < announced)
            if job.number == poison {
                try await queue.bury(worker)
                return true
            }
            let item = Flush.Item(
                batch: batch.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
                outcome: .delivered, reason: .none, attempts: 1)
            let next = min(batch.size, Int(job.ordinal) + 1 + batch.announceWindow)
            let held = Flush.Held(batch: batch.id, epoch: batch.epoch, announce: Int32(max(announced, next)))
            let states = try await queue.batches.flush(
                Flush(shard: queue.shard, answeredClaims: 1, checkedClaims: 0, held: [held], items: [item]),
                worker: worker, lease: .seconds(600))
            announced = try #require(states.first.map { Int($0.announced) })
        }
        return false
    }

    @Test(arguments: [1, 6, 10] as [Int64])
    func `a job that kills its worker is set aside after three deaths, and all others are delivered`(
        poison: Int64
    ) async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            var deaths = 0
            while try await live(run, dyingOf: poison, queue) { deaths += 1 }
            _ = try await live(run, dyingOf: poison, queue)
            #expect(deaths == 3)
            let rows = try await queue.client.query(
                "SELECT number, outcome, reason FROM pushfleet.delivery WHERE outcome <> 1")
            #expect(rows.count == 1)
            #expect(rows[0].int64(0) == poison && rows[0].int16(1) == Outcome.inDoubt.rawValue)
            #expect(rows[0].int16(2) == Reason.poison.rawValue)
            let accounting = try await queue.accounting(run)
            #expect(accounting.delivered == 9 && accounting.inDoubt == 1 && accounting.open == 0)
        }
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ClaimTests {
    @Test(arguments: [2, 7, 12]) func `racing claims never share a batch`(claimers: Int) async throws {
        try await QueueFixture.run(subscribers: 200) { queue in
            let run = try await queue.makeExpandedRun()
            let claimed = try await withThrowingTaskGroup(of: ClaimedBatch?.self) { group in
                for _ in 0..<claimers {
                    let worker = try await queue.hire()
                    group.addTask { try await queue.claim(run, worker) }
                }
                return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(claimed.count == claimers)
            #expect(Set(claimed.map(\.id)).count == claimers)
            #expect(claimed.allSatisfy { $0.epoch == 1 && $0.announced == $0.size })
        }
    }

    @Test func `a lapsed worker claims nothing`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire(lease: .seconds(-1))
            #expect(try await queue.claim(run, worker) == nil)
        }
    }

    @Test func `nothing is claimed of a paused run or through a paused credential`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            #expect(try await queue.control.pause(run))
            #expect(try await queue.claim(run, worker) == nil)
            #expect(try await queue.control.resume(run))
            try await queue.batches.pause(credential: Credential.ID(1), reason: .fcmUnauthenticated)
            #expect(try await queue.claim(run, worker) == nil)
            #expect(try await queue.batches.route(queue.route)?.state == .paused)
            try await queue.admin.resumeCredential(app: "ferry", name: "firebase")
            #expect(try await queue.claim(run, worker) != nil)
        }
    }

    @Test func `a batch whose claim's answer was lost goes back with the pulse, and not before its claim is answered`()
        async throws
    {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker, number: 5))
            func pulse(answered: Int32) async throws {
                _ = try await queue.batches.flush(
                    Flush(shard: queue.shard, answeredClaims: answered, checkedClaims: 0, held: [], items: []),
                    worker: worker, lease: .seconds(600))
            }
            func state() async throws -> Int64 {
                try await queue.count("SELECT state::bigint FROM pushfleet.batch WHERE id = \(batch.id.rawValue)")
            }
            try await pulse(answered: 4)
            #expect(try await state() == 1)
            try await queue.housekeeping.raiseWatermarks(shard: queue.shard)
            try await pulse(answered: 5)
            #expect(try await state() == 0)
            #expect(try await queue.accounting(run).repeatBound == 0)
            let other = try await queue.hire()
            #expect(try await queue.claim(run, other)?.id == batch.id)
        }
    }

    @Test func `a subscriber that was erased is an outcome, not a lost job`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            _ = try await queue.client.query("DELETE FROM pushfleet.subscriber WHERE id = 4")
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            #expect(jobs.filter { $0.recipient == nil }.map(\.subscriber.rawValue) == [4])
            try await queue.flush(batch, worker, jobs, as: .delivered) { item in
                if item.subscriber.rawValue == 4 {
                    item.outcome = .skipped
                    item.reason = .erased
                }
            }
            let accounting = try await queue.accounting(run)
            #expect(accounting.delivered == 9 && accounting.skipped == 1)
        }
    }

    @Test func `jobs are the same whether their subscribers are walked or looked up`() async throws {
        try await QueueFixture.run(subscribers: 25) { queue in
            let run = try await queue.makeExpandedRun(batchSize: 25)
            _ = try await queue.client.query("DELETE FROM pushfleet.subscriber WHERE id IN (4, 25)")
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.subscriber
                SET state = 1 + id % 5, language = 'l' || id, attributes = jsonb_build_object('n', id)
                WHERE id % 3 = 0
                """)
            let worker = try await queue.hire()
            var batch = try #require(try await queue.claim(run, worker))
            try await queue.flush(
                batch, worker, try await queue.batches.jobs(of: batch, attributes: []).prefix(3), as: .delivered)
            for ordinal in 0..<3 { batch.marked[ordinal] = true }
            for names in [[], ["n", "none"]] {
                #expect(batch.subscribers == 1...25)
                let walked = try await queue.batches.jobs(of: batch, attributes: names)
                var sparse = batch
                sparse.subscribers = 1...1_000_000
                let lookedUp = try await queue.batches.jobs(of: sparse, attributes: names)
                #expect(walked.count == 22 && walked.map(\.ordinal) == lookedUp.map(\.ordinal))
                #expect(walked.map { "\($0)" } == lookedUp.map { "\($0)" })
                #expect(walked.filter { $0.recipient == nil }.map(\.subscriber.rawValue) == [4, 25])
            }
        }
    }

    @Test func `jobs come with the scalars that the message names, in its order`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.subscriber
                SET attributes = '{"name": "Ada", "n": 1.50, "ok": true, "o": {"x": 1}, "z": null}'
                """)
            let run = try await queue.makeExpandedRun()
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            let jobs = try await queue.batches.jobs(of: batch, attributes: ["ok", "name", "o", "z", "n", "missing"])
            #expect(jobs[0].recipient?.values == ["true", "Ada", nil, nil, "1.50", nil])
        }
    }
}

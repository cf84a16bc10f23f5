import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ExpandTests {
    @Test(arguments: [1, 7, 25, 100] as [Int32])
    func `pages of any size give the jobs of one uninterrupted expansion`(pageSize: Int32) async throws {
        try await QueueFixture.run(subscribers: 60) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET state = 3 WHERE id % 10 = 0")
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET transport = 3 WHERE id % 10 = 1")
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET state = 2 WHERE id % 10 = 2")
            let run = try await queue.makeRun()
            try await queue.expand(run, pageSize: pageSize)
            let accounting = try await queue.accounting(run)
            #expect(accounting.targeted == 60 && accounting.pending == 48 && accounting.skipped == 12)
            #expect(try await queue.count("SELECT count(DISTINCT number) FROM pushfleet.job") == 48)
            #expect(try await queue.count("SELECT max(size)::bigint FROM pushfleet.batch") <= 10)
            let reasons = try await queue.client.query(
                "SELECT reason, count(*) FROM pushfleet.delivery GROUP BY 1 ORDER BY 1")
            #expect(reasons.map { $0.int16(0) } == [1, 2] && reasons.allSatisfy { $0.int64(1) == 6 })
        }
    }

    @Test func `schedulers that race expand each subscriber once`() async throws {
        try await QueueFixture.run(subscribers: 500) { queue in
            let run = try await queue.makeRun(batchSize: 50)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        // Nil while another one is at it: ask the list whether anything is left.
                        while try await queue.schedule.unexpandedRuns(of: queue.shard).contains(run) {
                            _ = try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 20)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await queue.accounting(run).targeted == 500)
            #expect(try await queue.count("SELECT count(DISTINCT number) FROM pushfleet.job") == 500)
        }
    }

    @Test func `a pair can be claimed as soon as its page is there, from its lane's present on`() async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.lane_clock SET vtime = 5000 WHERE lane = 1")
            let run = try await queue.makeExpandedRun()
            #expect(
                try await queue.batches.heads(of: queue.shard, lane: .campaign) == [Pair(run: run, route: queue.route)])
            #expect(try await queue.count("SELECT head FROM pushfleet.run_route") == 5000)
            // And the refresh agrees.
            try await queue.schedule.refreshHeads(of: queue.shard, lane: .campaign)
            #expect(try await queue.count("SELECT head FROM pushfleet.run_route") == 5000)
        }
    }

    @Test func `batches that are not due wait, and are claimed once promoted`() async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            let run = try await queue.makeRun(dueIn: .seconds(3600))
            try await queue.expand(run)
            #expect(try await queue.batches.heads(of: queue.shard, lane: .campaign).isEmpty)
            #expect(try await queue.schedule.promote(shard: queue.shard, limit: 100) == 0)
            _ = try await queue.client.query("UPDATE pushfleet.batch SET due_at = now() - interval '1 s'")
            #expect(try await queue.schedule.promote(shard: queue.shard, limit: 100) == 4)
            #expect(try await queue.claim(run, try await queue.hire()) != nil)
        }
    }
}

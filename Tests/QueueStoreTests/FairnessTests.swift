import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// Claims of one worker among runs, with the heads refreshed as a scheduler would.
@Suite(.timeLimit(.minutes(3))) struct FairnessTests {
    private func makeRun(weight: Int32, batchSize: Int16 = 5, rate: Int32? = nil, _ queue: QueueFixture) async throws
        -> Run.ID
    {
        let run = try await queue.makeRun(batchSize: batchSize)
        _ = try await queue.client.query(
            "UPDATE pushfleet.run SET weight = \(weight), rate = \(rate) WHERE id = \(run.rawValue)")
        try await queue.expand(run, pageSize: 10_000)
        return run
    }

    private func refresh(_ queue: QueueFixture) async throws {
        _ = try await queue.client.query("UPDATE pushfleet.lane_clock SET refreshed_at = '-infinity'")
        try await queue.schedule.refreshHeads(of: queue.shard, lane: .campaign)
    }

    /// Jobs that `count` claims took of each run, the heads read anew for every fourth.
    private func claim(
        _ count: Int, by worker: WorkerID, from number: Int32 = 1, without sated: Sated = Sated(), _ queue: QueueFixture
    ) async throws -> [Run.ID: Int] {
        var jobs: [Run.ID: Int] = [:]
        var pairs: [Pair] = []
        for step in 0..<count {
            if step % 4 == 0 {
                try await refresh(queue)
                pairs = try await queue.batches.heads(of: queue.shard, lane: .campaign, without: sated)
            }
            let batch = try await queue.batches.claim(
                shard: queue.shard, worker: worker, claimNumber: number + Int32(step), pairs: pairs)
            if let batch { jobs[batch.run, default: 0] += batch.size }
        }
        return jobs
    }

    @Test(arguments: [(8, 1), (4, 4), (3, 7), (1000, 10)] as [(Int32, Int32)])
    func `two runs share by weight, whatever the batch's size`(one: Int32, other: Int32) async throws {
        try await QueueFixture.run(subscribers: 1000) { queue in
            let first = try await makeRun(weight: one, queue)
            let second = try await makeRun(weight: other, queue)
            let jobs = try await claim(110, by: try await queue.hire(), queue)
            let expected = 550 * Double(one) / Double(one + other)
            #expect(abs(Double(jobs[first, default: 0]) - expected) <= 20)
            #expect(jobs[first, default: 0] + jobs[second, default: 0] == 550)
        }
    }

    @Test func `a run that starts beside a huge one gets its share at once, and does not starve it`() async throws {
        try await QueueFixture.run(subscribers: 1000) { queue in
            let worker = try await queue.hire()
            let huge = try await makeRun(weight: 1, queue)
            _ = try await claim(80, by: worker, queue)
            let late = try await makeRun(weight: 1, queue)
            let jobs = try await claim(60, by: worker, from: 100, queue)
            #expect(abs(jobs[huge, default: 0] - jobs[late, default: 0]) <= 20)
        }
    }

    @Test func `a run that comes back from a pause takes its share and not what it missed`() async throws {
        try await QueueFixture.run(subscribers: 1000) { queue in
            let worker = try await queue.hire()
            let one = try await makeRun(weight: 1, queue)
            let other = try await makeRun(weight: 1, queue)
            _ = try await claim(10, by: worker, queue)
            #expect(try await queue.control.pause(one))
            let alone = try await claim(80, by: worker, from: 100, queue)
            #expect(alone == [other: 400])
            #expect(try await queue.control.resume(one))
            let jobs = try await claim(60, by: worker, from: 200, queue)
            #expect(abs(jobs[one, default: 0] - jobs[other, default: 0]) <= 20)
        }
    }

    private func claimedRoutes(
        _ count: Int, of pairs: [Pair], by worker: WorkerID, _ queue: QueueFixture
    ) async throws -> [Route.ID: Int] {
        var routes: [Route.ID: Int] = [:]
        for step in 0..<count {
            let batch = try await queue.batches.claim(
                shard: queue.shard, worker: worker, claimNumber: 200 + Int32(step), pairs: pairs)
            if let batch { routes[batch.route, default: 0] += 1 }
        }
        return routes
    }

    @Test func `the runs of a credential that was mended start at the present`() async throws {
        try await QueueFixture.run(subscribers: 1000) { queue in
            _ = try await queue.client.query(
                """
                INSERT INTO pushfleet.route (app_id, transport, credential_id)
                SELECT app_id, 1, credential_id FROM pushfleet.route
                """)
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET transport = 1 WHERE id % 2 = 0")
            let worker = try await queue.hire()
            let run = try await makeRun(weight: 1, queue)
            _ = try await claim(8, by: worker, queue)
            _ = try await queue.client.query("UPDATE pushfleet.route SET state = 1 WHERE transport = 1")
            _ = try await claim(60, by: worker, from: 100, queue)
            _ = try await queue.client.query("UPDATE pushfleet.route SET state = 0")
            try await refresh(queue)
            let pairs = try await queue.batches.heads(of: queue.shard, lane: .campaign)
            #expect(pairs.count == 2)
            let routes = try await claimedRoutes(30, of: pairs, by: worker, queue)
            #expect(routes.count == 2 && routes.values.allSatisfy { abs($0 - 15) <= 2 })
            #expect(try await queue.accounting(run).targeted == 1000)
        }
    }

    @Test func `a throttled run neither hides the others nor takes everything once its throttle is gone`() async throws
    {
        try await QueueFixture.run(subscribers: 1000) { queue in
            let worker = try await queue.hire()
            var throttled = Sated()
            for _ in 0..<9 {
                let run = try await makeRun(weight: 1, rate: 5, queue)
                throttled.runs.insert(run)
            }
            let free = try await makeRun(weight: 1, queue)
            // The worker holds as much of the throttled ones as it can send: it names the tenth.
            let alone = try await claim(80, by: worker, without: throttled, queue)
            #expect(alone == [free: 400])
            let one = try #require(throttled.runs.min())
            _ = try await queue.client.query("UPDATE pushfleet.run SET rate = NULL WHERE id = \(one.rawValue)")
            throttled.runs.remove(one)
            let jobs = try await claim(60, by: worker, from: 200, without: throttled, queue)
            #expect(abs(jobs[one, default: 0] - jobs[free, default: 0]) <= 20)
        }
    }
}

import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(2))) struct SettleTests {
    @Test func `a cancelled run is settled again and again until nothing of it is left`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker, number: 1))
            let other = try #require(try await queue.claim(run, worker, number: 2))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs.prefix(2), as: .delivered)
            try await queue.flush(batch, worker, jobs.dropFirst(2).prefix(3), as: nil)
            let answer = try #require(try await queue.control.cancel(run))
            #expect(answer.delivered == 2 && answer.inFlightAtMost == 15 && answer.stoppedAtLeast == 23)
            #expect(try await queue.control.cancel(run) == nil)
            _ = try await queue.housekeeping.settle(shard: queue.shard)
            // What is leased comes back first, with what is known.
            var accounting = try await queue.accounting(run)
            #expect(accounting.leased == 15 && accounting.cancelled == 23)
            try await queue.flush(batch, worker, jobs.suffix(5), as: .delivered)
            try await queue.batches.handBack(other, begun: 4, notBefore: nil, worker: worker)
            _ = try await queue.housekeeping.settle(shard: queue.shard)
            accounting = try await queue.accounting(run)
            #expect(accounting.delivered == 7 && accounting.cancelled == 29 && accounting.inDoubt == 4)
            #expect(try await queue.housekeeping.settle(shard: queue.shard) == 0)
            #expect(try await queue.housekeeping.closeRuns() == 1)
            #expect(try await queue.accounting(run) == accounting)
        }
    }

    @Test func `a page that is under way while its run is cancelled is settled and counted before the run is closed`()
        async throws
    {
        try await QueueFixture.run { queue in
            let run = try await queue.makeRun()
            let page = ExpandStatement(
                shard: queue.shard, run: run, pageSize: 25, audience: PostgresJSON(#"{"all": true}"#),
                predicate: try Audience.all.predicate(), onePerUser: false)
            try await queue.members.scheduler.withTransaction { connection in
                #expect(try await connection.query(page.query).count == 1)
                _ = try #require(try await queue.control.cancel(run))
                #expect(try await queue.housekeeping.settle(shard: queue.shard) == 0)
                #expect(try await queue.housekeeping.closeRuns() == 0)
            }
            #expect(try await queue.housekeeping.closeRuns() == 0)
            #expect(try await queue.housekeeping.settle(shard: queue.shard) == 3)
            #expect(try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 25) == nil)
            #expect(try await queue.housekeeping.closeRuns() == 1)
            let accounting = try await queue.accounting(run)
            #expect(accounting.targeted == 25 && accounting.cancelled == 25)
        }
    }

    @Test func `an audit tells of a closed run's open batches, and that its totals lack a page`() async throws {
        // No accounting at the end: it is broken on purpose.
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 4) { client in
                let members = QueueFixture.Members(all: client)
                let queue = try await QueueFixture.make(database, client, members, subscribers: 10, .none)
                let run = try await queue.makeExpandedRun()
                _ = try await client.query("UPDATE pushfleet.run SET closed_at = now(), status = 3")
                _ = try await client.query(
                    "INSERT INTO pushfleet.run_total VALUES (\(run.rawValue), 0, 0, 0, 0, 0, 0, 0, 0, 0)")
                let batch = try await queue.count("SELECT id FROM pushfleet.batch")
                #expect(
                    try await queue.admin.audit(run).sorted() == [
                        "batch \(batch): open batch of a closed run: expected 0, found 10",
                        "the run: targeted of a closed run: expected 0, found 10",
                    ])
            }
        }
    }

    private enum Waiting: CaseIterable { case ready, scheduled, leased, retrying }

    @Test(arguments: Waiting.allCases)
    private func `however many runs wait, one that is over is closed`(waiting: Waiting) async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let worker = try await queue.hire()
            for number in 1...110 {
                let run = try await queue.makeRun(dueIn: waiting == .scheduled ? .seconds(3600) : .zero)
                try await queue.expand(run)
                guard waiting == .leased || waiting == .retrying else { continue }
                let batch = try #require(try await queue.claim(run, worker, number: Int32(number)))
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                if waiting == .retrying { try await queue.flush(batch, worker, jobs, as: nil) }
            }
            let last = try await queue.makeExpandedRun()
            try await queue.drain(last)
            _ = try await queue.client.query("UPDATE pushfleet.run_route SET head = NULL")
            #expect(try await queue.housekeeping.closeRuns() == 1)
            #expect(
                try await queue.count("SELECT id FROM pushfleet.run WHERE closed_at IS NOT NULL") == last.rawValue)
        }
    }

    @Test func `what expires while nobody holds it ends as expired, retries too`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs, as: nil) { $0.mayHaveLeft = $0.ordinal < 3 }
            _ = try await queue.client.query(
                "UPDATE pushfleet.batch SET expires_at = now() - interval '1 s' WHERE state = 0")
            _ = try await queue.client.query("UPDATE pushfleet.retry SET expires_at = now() - interval '1 s'")
            while try await queue.housekeeping.settle(shard: queue.shard) > 0 {}
            let accounting = try await queue.accounting(run)
            #expect(accounting.expired == 37 && accounting.inDoubt == 3)
        }
    }

    @Test func `a partition that an open batch pins is evacuated, then dropped`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs.prefix(4), as: .delivered)
            try await queue.batches.handBack(batch, begun: 5, notBefore: nil, worker: worker)
            _ = try await queue.client.query("SELECT pushfleet.rotate_bucket(\(batch.bucket))")
            _ = try await queue.client.query(
                "UPDATE pushfleet.bucket SET sealed_at = now() - interval '1 h' WHERE sealed_at IS NOT NULL")
            #expect(try await queue.housekeeping.dropBuckets(shards: [queue.shard]) == 1)
            let accounting = try await queue.accounting(run)
            #expect(accounting.delivered == 4 && accounting.pending == 36)
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.batch WHERE bit_count(doubtful) = 1 AND state = 0") == 1)
            #expect(try await queue.count("SELECT count(DISTINCT number) FROM pushfleet.job") == 36)
        }
    }
}

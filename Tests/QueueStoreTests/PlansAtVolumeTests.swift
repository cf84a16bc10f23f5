import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import QueueStore

/// What the hot statements touch with a million jobs waiting and a million finished; PUSHFLEET_PLAN_JOBS=10000000 asks the
/// same of ten million each.
@Suite(.timeLimit(.minutes(30))) struct PlansAtVolumeTests {
    private static let jobs =
        ProcessInfo.processInfo.environment["PUSHFLEET_PLAN_JOBS"].flatMap { Int64($0) } ?? 1_000_000

    @Test func `claim, reading, flush, rescue and re-batch walk indexes, sort nothing large and touch few pages`()
        async throws
    {
        // No accounting at the end: its retry rows and tallies are made up.
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 4) { client in
                let members = QueueFixture.Members(all: client)
                let queue = try await QueueFixture.make(database, client, members, subscribers: 20_000, .none)
                try await PlansAtVolume(queue: queue, jobs: Self.jobs).fill()
                try await idleRuns(queue)
                try await claimReadFlush(queue)
                try await rescue(queue)
                try await rebatch(queue)
                try await audit(queue)
            }
        }
    }

    /// Of runs with something open nothing is read but that there is something, whatever they have done.
    private func idleRuns(_ queue: QueueFixture) async throws {
        try await expect("idle runs", .idleRuns, queue, pages: 20 * Int(PlansAtVolume.runs), sorts: 100)
    }

    private func claimReadFlush(_ queue: QueueFixture) async throws {
        let worker = try await queue.hire()
        try await queue.schedule.refreshHeads(of: queue.shard, lane: .campaign)
        let pairs = try await queue.batches.heads(of: queue.shard, lane: .campaign)
        #expect(pairs.count == 8)
        try await expect(
            "claim", .claim(shard: queue.shard, worker: worker, claimNumber: 1, pairs: pairs), queue, pages: 120,
            sorts: 8)
        let batch = try #require(
            try await queue.batches.claim(shard: queue.shard, worker: worker, claimNumber: 2, pairs: pairs))
        #expect(batch.size == 500)
        // A page of the table for each subscriber at worst, where they do not lie in order.
        try await expect("reading", .readJobs(of: batch, attributes: ["name"]), queue, pages: 600, sorts: 500)
        // A look-up for each subscriber.
        var sparse = batch
        sparse.subscribers = 1...1_000_000
        try await expect("sparse reading", .readJobs(of: sparse, attributes: ["name"]), queue, pages: 2500, sorts: 500)
        let items = try await queue.batches.jobs(of: batch, attributes: []).map { job in
            Flush.Item(
                batch: batch.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
                outcome: job.ordinal % 50 == 0 ? nil : .delivered, reason: .none, attempts: 1)
        }
        for (number, part) in [items[..<100], items[100...]].enumerated() {
            let held = Flush.Held(batch: batch.id, epoch: batch.epoch, announce: 500)
            let flush = Flush(
                shard: queue.shard, answeredClaims: 2, checkedClaims: 0, held: [held], items: Array(part))
            let statement = FlushStatement(flush: flush, worker: worker, lease: .seconds(600))
            // Per outcome: its row, its index entry and their share of extending both.
            try await expect(
                "flush \(number)", statement.query, queue, pages: 150 + part.count * 6, sorts: Double(part.count))
        }
    }

    private func rescue(_ queue: QueueFixture) async throws {
        let worker = try await queue.hire()
        let pairs = try await queue.batches.heads(of: queue.shard, lane: .campaign)
        for number in 1...2 {
            _ = try await queue.batches.claim(
                shard: queue.shard, worker: worker, claimNumber: Int32(number), pairs: pairs)
        }
        _ = try await queue.client.query(
            """
            UPDATE pushfleet.worker
            SET lease_until = now() - interval '1 min', sighted_first_at = now() - interval '30 s', sighted_last_at = now()
            WHERE id = \(worker.uuid)
            """)
        try await expect(
            "lapsed batches", .lapsedBatches(of: queue.shard, span: .seconds(5)), queue, pages: 60, sorts: 10)
        let lapsed = try await queue.client.query(.lapsedBatches(of: queue.shard, span: .seconds(5)))
        #expect(lapsed.count >= 1)
        for row in lapsed {
            let ids = row.int64Array(2)
            let statement = FreeStatement(
                shard: queue.shard, bucket: row.int32(0), holder: worker, ids: ids, epochs: row.int32Array(3),
                begun: ids.map { _ in nil }, lapsedFor: .seconds(5), notBefore: nil)
            try await expect("rescue", statement.query, queue, pages: 60, sorts: 10)
        }
        try await expect("expired", .expiredBatches(of: queue.shard), queue, pages: 60, sorts: 10)
    }

    private func rebatch(_ queue: QueueFixture) async throws {
        let due = try await queue.client.query(.dueRetries(of: queue.shard), deadline: .seconds(10))
        let row = try #require(due.first)
        let group = RetryGroup(row)
        // A paused run has as many due as there are others: nobody steps over them.
        _ = try await queue.client.query(
            """
            INSERT INTO pushfleet.run (app_id, content_version, ttl, due_at, status)
            VALUES (1, 1, interval '1 day', now(), 2)
            """)
        _ = try await queue.client.query(
            """
            INSERT INTO pushfleet.retry (
                shard, run_id, number, subscriber_id, route_id, due_at, expires_at, content_version, attempts, doubtful
            )
            SELECT 0, (SELECT max(id) FROM pushfleet.run), g, 1, 1, now() - interval '1 h', now() + interval '1 day', 1, 1,
                false
            FROM generate_series(1, \(Self.jobs / 50)) g
            """, deadline: .seconds(600))
        _ = try await queue.client.query("VACUUM ANALYZE pushfleet.retry", deadline: .seconds(600))
        let waiting = try await queue.count(
            """
            SELECT count(*) FROM pushfleet.retry r JOIN pushfleet.run ON run.id = r.run_id AND run.status = 1
            WHERE r.due_at <= now()
            """)
        // Every due row is looked at once, and none besides; a few pages find each pair.
        try await expect(
            "due retries", .dueRetries(of: queue.shard), queue, pages: 400 + Int(min(waiting, 50_000)),
            sorts: 50_000)
        let statement = RebatchStatement(group: group, shard: queue.shard, limit: 500)
        // What is due in other pairs, and what is not due yet, is not read, however much waits.
        try await expect("re-batch", statement.query, queue, pages: 12_000, sorts: 500)
        try await expect(
            "settling retries", .settleRetries(of: queue.shard, limit: 5000), queue, pages: 100, sorts: 10)
    }

    private func audit(_ queue: QueueFixture) async throws {
        let run = try await queue.count(
            """
            INSERT INTO pushfleet.run (app_id, content_version, ttl, due_at, status, created_at)
            VALUES (1, 1, interval '1 day', now(), 2, now() + interval '10 min')
            RETURNING id
            """)
        // Of the day's deliveries, those from before the run was made.
        try await expect("audit", "SELECT problem FROM pushfleet.audit(\(run))", queue, pages: 500, sorts: 10)
    }

    /// - Parameters:
    ///   - sorts: rows that a sort may see: what the statement itself works on.
    ///   - removed: rows that may be read for nothing.
    private func expect(
        _ name: String, _ query: PostgresQuery, _ queue: QueueFixture, pages: Int, sorts: Double,
        removed: Double = 1000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let plan = try await PlanNode(query, queue.client)
        let large = ["batch", "subscriber", "retry", "delivery", "attempt", "job"]
        for node in plan.all {
            let isLarge = large.contains { node.relation == $0 || node.relation.hasPrefix($0 + "_") }
            #expect(
                !(node.type == "Seq Scan" && isLarge && node.rows + node.removed > 10),
                "\(name) reads all of \(node.relation)",
                sourceLocation: sourceLocation)
            #expect(
                node.removed <= removed, "\(name) reads \(Int(node.removed)) rows of \(node.relation) for nothing",
                sourceLocation: sourceLocation)
            #expect(
                !(node.type.contains("Sort") && node.rows > sorts), "\(name) sorts \(Int(node.rows)) rows",
                sourceLocation: sourceLocation)
        }
        #expect(plan.pages <= pages, "\(name) looks at \(plan.pages) pages", sourceLocation: sourceLocation)
    }
}

import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

/// What is asked of batches all the time, while a snapshot is held under which 20,000 of them came, were held and were done.
@Suite(.timeLimit(.minutes(5))) struct PlansUnderSnapshotTests {
    private static let runs: Int64 = 100

    @Test func `dead versions that a snapshot keeps, and few live rows when analysed, cost no statement its index`()
        async throws
    {
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 4) { client in
                let members = QueueFixture.Members(all: client)
                let queue = try await QueueFixture.make(database, client, members, subscribers: 1, .none)
                let worker = try await queue.hire()
                try await client.withTransaction { reader in
                    _ = try await reader.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                    _ = try await reader.query("SELECT count(*) FROM pushfleet.batch")
                    try await Self.fill(client, worker)
                    _ = try await client.query("ANALYZE pushfleet.batch")
                    try await Self.expectFewPages(queue, worker)
                }
            }
        }
    }

    /// The last run has three batches that are ready; the worker holds two.
    private static func fill(_ client: PostgresClient, _ worker: WorkerID) async throws {
        let statements: [PostgresQuery] = [
            "INSERT INTO pushfleet.content_version (message) VALUES ('{}')",
            """
            INSERT INTO pushfleet.run (app_id, content_version, ttl, due_at)
            SELECT 1, 1, interval '1 day', now() FROM generate_series(1, \(runs))
            """,
            "INSERT INTO pushfleet.lane_clock (shard, lane) VALUES (0, 0), (0, 1) ON CONFLICT DO NOTHING",
            """
            INSERT INTO pushfleet.run_route (shard, run_id, route_id, lane, last_tag, low_tag)
            SELECT 0, run.id, 1, 1, 205, 201 FROM pushfleet.run
            """,
            batches(1, 200, of: 1),
            "UPDATE pushfleet.batch SET state = 1, holder = \(worker.uuid), claim_no = id::int, epoch = 1",
            "UPDATE pushfleet.batch SET announced = 10",
            "UPDATE pushfleet.batch SET state = 2, marked = repeat('1', 10)::varbit, delivered = 10",
            batches(201, 205, of: runs),
            """
            UPDATE pushfleet.batch SET state = 1, holder = \(worker.uuid), claim_no = 30000, epoch = 1
            WHERE tag > 203
            """,
        ]
        for statement in statements { _ = try await client.query(statement, deadline: .seconds(120)) }
    }

    private static func batches(_ first: Int32, _ last: Int32, of firstRun: Int64) -> PostgresQuery {
        """
        INSERT INTO pushfleet.batch (
            shard, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, bucket_id, size,
            content_version, state, origin, marked
        )
        SELECT 0, run.id, 1, g, now(), now() + interval '1 day', 1, 10, 1, 10, 1, 0, 0, repeat('0', 10)::varbit
        FROM pushfleet.run
        CROSS JOIN generate_series(\(first), \(last)) g
        WHERE run.id >= \(firstRun)
        """
    }

    private static func expectFewPages(_ queue: QueueFixture, _ worker: WorkerID) async throws {
        let shard = queue.shard
        let pair = Pair(run: Run.ID(runs), route: queue.route)
        let held = try await queue.client.query("SELECT id FROM pushfleet.batch WHERE tag > 203").map {
            Flush.Held(batch: Batch.ID($0.int64(0)), epoch: 1, announce: 10)
        }
        #expect(held.count == 2)
        let pulse = Flush(shard: shard, answeredClaims: 30_000, checkedClaims: 29_999, held: held, items: [])
        let statements: [(String, PostgresQuery, Int)] = [
            ("claim", .claim(shard: shard, worker: worker, claimNumber: 30_001, pairs: [pair]), 60),
            ("pulse", FlushStatement(flush: pulse, worker: worker, lease: .seconds(600)).query, 60),
            // Of each pair, a look at its first ready batch.
            ("heads", RefreshHeadsStatement(shard: shard, lane: .campaign).query, 60 + 20 * Int(runs)),
            ("risen pairs", .risenPairs(of: shard), 60 + 10 * Int(runs)),
            ("raise", .raiseWatermark(of: pair, shard: shard), 60),
            ("lapsed", .lapsedBatches(of: shard, span: .seconds(5)), 60),
            ("expired", .expiredBatches(of: shard), 60),
            ("promote", .promote(shard: shard, limit: 500), 60),
        ]
        for (name, query, pages) in statements {
            let found = try await PlanNode(query, queue.client).pages
            #expect(found <= pages, "\(name) looks at \(found) pages")
        }
    }
}

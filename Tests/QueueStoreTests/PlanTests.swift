import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import QueueStore

/// What the hot statements touch in a database with 1,000 job partitions, 1,000 live runs and 100,000 batches.
@Suite(.timeLimit(.minutes(5))) struct PlanTests {
    @Test func `a claim, its reading and a flush cost the same with 1,000 partitions and 1,000 live runs`() async throws
    {
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 2) { client in
                try await fill(client)
                let store = PostgresBatchStore(claims: client, flushes: client)
                let schedule = PostgresScheduleStore(client: client)
                let shard = Shard(rawValue: 0)
                let worker = WorkerID(UUID().uuidString)
                try await store.enlist(worker, lease: .seconds(600))
                try await schedule.refreshHeads(of: shard, lane: .campaign)
                let pairs = try await store.heads(of: shard, lane: .campaign)
                #expect(pairs.count == 8)

                let claim = PostgresQuery.claim(shard: shard, worker: worker, claimNumber: 1, pairs: pairs)
                try await expectFewBuffers(200, claim, client)
                let claimed = try await store.claim(shard: shard, worker: worker, claimNumber: 2, pairs: pairs)
                let batch = try #require(claimed)

                let read = try await explain(.readJobs(of: batch, attributes: ["name"]), client)
                #expect(Set(read.matches(of: /job_\d+/).map { String($0.output) }) == ["job_\(batch.bucket)"])
                #expect(!read.contains("Seq Scan on subscriber"))

                let items = try await store.jobs(of: batch, attributes: []).map { job in
                    Flush.Item(
                        batch: batch.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
                        outcome: .delivered, reason: .none, attempts: 1)
                }
                #expect(items.count == 10)
                let held = Flush.Held(batch: batch.id, epoch: batch.epoch, announce: 10)
                let flush = Flush(shard: shard, answeredClaims: 2, checkedClaims: 2, held: [held], items: items)
                try await expectFewBuffers(
                    400, FlushStatement(flush: flush, worker: worker, lease: .seconds(600)).query, client)
                try await expectFewBuffers(60, .readHeads(of: shard, lane: .campaign), client)
                try await expectFewBuffers(60, .expiredBatches(of: shard), client)
                try await expectFewBuffers(60, .dueRetries(of: shard), client)
            }
        }
    }

    private func fill(_ client: PostgresClient) async throws {
        let statements: [PostgresQuery] = [
            "INSERT INTO pushfleet.app (name) VALUES ('p')",
            "INSERT INTO pushfleet.lane_clock VALUES (0, 0), (0, 1)",
            "INSERT INTO pushfleet.route (app_id, transport, credential_id) VALUES (1, 2, 1)",
            "INSERT INTO pushfleet.run (app_id) SELECT 1 FROM generate_series(1, 1000)",
            """
            INSERT INTO pushfleet.run_progress (shard, run_id, targeted, expanded)
            SELECT 0, id, 1000, true FROM pushfleet.run
            """,
            """
            INSERT INTO pushfleet.run_route (shard, run_id, route_id, lane, last_tag)
            SELECT 0, id, 1, 1, 100 FROM pushfleet.run
            """,
            """
            INSERT INTO pushfleet.batch (
                shard, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, bucket_id, size,
                state, origin, marked, delivered
            )
            SELECT 0, run.id, 1, g, now(), now() + interval '1 day', 1, 10, 1 + (run.id + g) % 1000, 10,
                CASE WHEN g <= 50 THEN 2 ELSE 0 END, 0,
                CASE WHEN g <= 50 THEN repeat('1', 10) ELSE repeat('0', 10) END::varbit,
                CASE WHEN g <= 50 THEN 10 ELSE 0 END
            FROM pushfleet.run, generate_series(1, 100) g
            """,
            """
            INSERT INTO pushfleet.job (shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal)
            SELECT 0, b.bucket_id, b.id, b.run_id, b.tag * 10 + o, 1 + o, o
            FROM pushfleet.batch b, generate_series(0, 9) o
            WHERE b.tag = 51
            """,
            """
            INSERT INTO pushfleet.subscriber (shard, app_id, transport, address)
            SELECT 0, 1, 2, 'x' || g FROM generate_series(1, 20000) g
            """,
            "ANALYZE",
        ]
        for _ in 0..<10 {
            _ = try await client.query(
                """
                DO $$ BEGIN FOR i IN 1..100 LOOP
                    PERFORM pushfleet.rotate_bucket((SELECT max(id) FROM pushfleet.bucket));
                END LOOP; END $$
                """, deadline: .seconds(120))
        }
        for statement in statements { _ = try await client.query(statement, deadline: .seconds(120)) }
    }

    private func explain(_ query: PostgresQuery, _ client: PostgresClient) async throws -> String {
        var explained = query
        explained.sql = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) " + query.sql
        return try await client.query(explained, deadline: .seconds(60)).map { $0.string(0) }.joined(separator: "\n")
    }

    /// Pages that the statement looked at, found in memory or not: the first line about buffers is of the whole.
    private func expectFewBuffers(
        _ limit: Int, _ query: PostgresQuery, _ client: PostgresClient,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let plan = try await explain(query, client)
        let whole = plan.split(separator: "\n").first { $0.contains("Buffers: shared") }.map { String($0) }
        let buffers = try #require(whole, "The plan counts no pages:\n\(plan)", sourceLocation: sourceLocation)
        let pages = buffers.matches(of: /(?:hit|read)=(\d+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
        #expect(pages <= limit, "\(pages) pages\n\(plan)", sourceLocation: sourceLocation)
    }
}

import Domain
import Foundation
import Postgres
import TestSupport

/// A queue with as many jobs waiting as finished, in 20 runs, and 2 % of them waiting in the retry table.
struct PlansAtVolume {
    let queue: QueueFixture
    let jobs: Int64

    static let runs: Int64 = 20
    static let batchSize: Int64 = 500
    static let buckets: Int64 = 8

    func fill() async throws {
        for _ in 1..<Self.buckets {
            try await run("SELECT pushfleet.rotate_bucket((SELECT max(id) FROM pushfleet.bucket))")
        }
        try await fillRuns()
        try await fillBatches()
        // Statistics and the visibility map as autovacuum keeps them.
        try await run("VACUUM ANALYZE")
    }

    private func fillRuns() async throws {
        try await run("INSERT INTO pushfleet.content_version (message) VALUES ('{}')")
        try await run(
            """
            INSERT INTO pushfleet.run (app_id, content_version, ttl, due_at)
            SELECT 1, 1, interval '1 day', now() FROM generate_series(1, \(Self.runs))
            """)
        try await run(
            """
            INSERT INTO pushfleet.run_progress (shard, run_id, targeted, expanded)
            SELECT 0, id, 2 * \(jobs) / \(Self.runs), true FROM pushfleet.run
            """)
        try await run(
            """
            INSERT INTO pushfleet.run_route (shard, run_id, route_id, lane, last_tag, low_tag)
            SELECT 0, id, 1, 1, 2 * \(jobs), \(jobs) FROM pushfleet.run
            """)
        try await run(
            "INSERT INTO pushfleet.lane_clock (shard, lane) VALUES (0, 0), (0, 1) ON CONFLICT DO NOTHING")
    }

    /// The first half of the tags is done, the second half is ready.
    private func fillBatches() async throws {
        let batches = jobs / Self.batchSize
        try await run(
            """
            INSERT INTO pushfleet.batch (
                shard, run_id, route_id, tag, due_at, expires_at, first_subscriber_id, last_subscriber_id, bucket_id, size,
                content_version, state, origin, holder, marked, moved, delivered
            )
            SELECT 0, 1 + g % \(Self.runs), 1, g * \(Self.batchSize), now(), now() + interval '1 day',
                1 + g * \(Self.batchSize) % 20000, \(Self.batchSize) + g * \(Self.batchSize) % 20000,
                1 + g % \(Self.buckets), \(Self.batchSize), 1, CASE WHEN g < \(batches) THEN 2 ELSE 0 END, 0,
                CASE WHEN g < \(batches) THEN '5f3c0d64-6a3a-4d1b-9d0f-0c8d3a2b1e00'::uuid END,
                repeat(CASE WHEN g < \(batches) THEN '1' ELSE '0' END, \(Self.batchSize)::int)::varbit,
                CASE WHEN g < \(batches) THEN 10 ELSE 0 END,
                CASE WHEN g < \(batches) THEN \(Self.batchSize) - 10 ELSE 0 END
            FROM generate_series(0, 2 * \(batches) - 1) g
            """)
        try await run(
            """
            INSERT INTO pushfleet.job (shard, bucket_id, batch_id, run_id, number, subscriber_id, ordinal)
            SELECT 0, b.bucket_id, b.id, b.run_id, b.tag + o, 1 + (b.tag + o) % 20000, o
            FROM pushfleet.batch b
            CROSS JOIN generate_series(0, \(Self.batchSize) - 1) o
            WHERE b.state = 0
            """)
        try await run(
            """
            INSERT INTO pushfleet.delivery (
                shard, run_id, number, subscriber_id, batch_id, ordinal, outcome, attempts, content_version
            )
            SELECT 0, b.run_id, b.tag + o, 1 + (b.tag + o) % 20000, b.id, o, 1, 1, 1
            FROM pushfleet.batch b
            CROSS JOIN generate_series(10, \(Self.batchSize) - 1) o
            WHERE b.state = 2
            """)
        try await run(
            """
            INSERT INTO pushfleet.retry (
                shard, run_id, number, subscriber_id, route_id, due_at, expires_at, content_version, attempts, doubtful
            )
            SELECT 0, b.run_id, b.tag + o, 1 + (b.tag + o) % 20000, 1,
                now() + (b.id % 3600 - 60) * interval '1 s', b.expires_at, 1, 1, false
            FROM pushfleet.batch b
            CROSS JOIN generate_series(0, 9) o
            WHERE b.state = 2
            """)
    }

    private func run(_ statement: PostgresQuery) async throws {
        _ = try await queue.client.query(statement, deadline: .seconds(1800))
    }
}

/// A node of a plan that was executed, and all below it.
struct PlanNode {
    let fields: [String: Any]

    init(_ fields: [String: Any]) { self.fields = fields }

    /// Executes the statement.
    init(_ query: PostgresQuery, _ client: PostgresClient) async throws {
        try self.init(await client.query(Self.explained(query), deadline: .seconds(60)))
    }

    /// Executes the statement with what the session has set.
    init(_ query: PostgresQuery, in session: PostgresConnection) async throws {
        try self.init(await session.query(Self.explained(query)))
    }

    private init(_ answer: PostgresRows) throws {
        let plans = try JSONSerialization.jsonObject(with: Data(answer[0].json(0).utf8)) as? [[String: Any]]
        fields = plans?.first?["Plan"] as? [String: Any] ?? [:]
    }

    private static func explained(_ query: PostgresQuery) -> PostgresQuery {
        var explained = query
        explained.sql = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON, TIMING OFF) " + query.sql
        return explained
    }

    var all: [PlanNode] {
        [self] + (fields["Plans"] as? [[String: Any]] ?? []).flatMap { PlanNode($0).all }
    }
    var type: String { fields["Node Type"] as? String ?? "" }
    var relation: String { fields["Relation Name"] as? String ?? "" }
    /// How often it began anew.
    var loops: Double { number("Actual Loops") }
    var rows: Double { number("Actual Rows") * loops }
    /// Rows that were read for nothing.
    var removed: Double {
        (number("Rows Removed by Filter") + number("Rows Removed by Index Recheck")) * loops
    }
    /// Pages looked at by the whole statement, counted too high rather than too low: what data-modifying parts do that
    /// nobody reads is not in the top node's count.
    var pages: Int {
        let parts = all.dropFirst().filter { $0.type == "ModifyTable" }
        return ([self] + parts).reduce(0) {
            $0 + Int($1.number("Shared Hit Blocks") + $1.number("Shared Read Blocks"))
        }
    }

    private func number(_ name: String) -> Double { (fields[name] as? NSNumber)?.doubleValue ?? 0 }
}

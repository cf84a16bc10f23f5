import Foundation
import Postgres
import TestSupport
import Testing

/// What reports touch at a site of some size, filled as the benchmark `reports` fills its own.
@Suite(.timeLimit(.minutes(5))) struct ReportPlansTests {
    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Scripts")
        .standardized
    /// Where rows are counted in millions.
    private static let large = [
        "tally", "tally_latency", "token_tally", "delivery", "attempt", "answer_minute", "subscriber",
    ]

    /// The queries that the page of reports shows, by view.
    private static func samples() throws -> [String: String] {
        let text = try String(contentsOf: scripts.appending(path: "lib/report-samples.tsv"), encoding: .utf8)
        return Dictionary(
            uniqueKeysWithValues: text.split(separator: "\n").map { line in
                let parts = line.split(separator: "\t")
                return (String(parts[0]), String(parts[1]))
            })
    }

    private static func fill(_ url: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let sizes = ["apps=4", "runs=80", "days=8", "jobs=2000000", "subscribers=20000", "a_day=20000"]
        process.arguments =
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"] + sizes.flatMap { ["-v", $0] }
            + ["-f", scripts.appending(path: "bench/reports.sql").path, url]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    @Test func `every view and explain() find what they show by an index, and look at few pages`() async throws {
        try await TemporaryDatabase.run { database in
            try Self.fill(database.directURL)
            try await database.withClient(connections: 1) { client in
                let samples = try Self.samples()
                let views = try await client.query(
                    """
                    SELECT relname::text FROM pg_class
                    WHERE relnamespace = 'pushfleet_report'::regnamespace AND relkind = 'v'
                    """
                ).map { $0.string(0) }
                #expect(Set(samples.keys).subtracting(views).isEmpty)
                for view in views {
                    let query = samples[view] ?? "SELECT * FROM pushfleet_report.\(view)"
                    try await expect(view, query, client, pages: 6000)
                }
                try await expectRetriesCountedOnce(client)
                // As the terminal asks, without a run.
                for view in ["runs", "latency", "retries"] {
                    try await expect(
                        "the newest of \(view)",
                        "SELECT * FROM pushfleet_report.\(view) ORDER BY run_id DESC LIMIT 20", client, pages: 6000)
                }
                // Each batch of the app's ten open runs is looked at for whom it spans: 5000 of them here.
                try await expect(
                    "explain()", "SELECT * FROM pushfleet.explain('app-3', '{\"externalId\": \"s-402\"}')", client,
                    pages: 7000)
            }
        }
    }

    /// Whatever the planner holds of keeping rows: with many retries it would rather count them again for each open run.
    private func expectRetriesCountedOnce(_ client: PostgresClient) async throws {
        let loops = try await client.withTransaction { session in
            _ = try await session.query("SET LOCAL enable_material = off")
            return try await PlanNode("SELECT * FROM pushfleet_report.accounting_violation", in: session).all
                .filter { $0.relation == "retry" }.map(\.loops)
        }
        #expect(loops == [1])
    }

    private func expect(_ name: String, _ sql: String, _ client: PostgresClient, pages: Int) async throws {
        let plan = try await PlanNode("\(unescaped: sql)", client)
        for node in plan.all where node.type == "Seq Scan" {
            let isLarge = Self.large.contains { node.relation == $0 || node.relation.hasPrefix($0 + "_20") }
            #expect(!isLarge, "\(name) reads all of \(node.relation)")
        }
        #expect(plan.pages <= pages, "\(name) looks at \(plan.pages) pages")
    }
}

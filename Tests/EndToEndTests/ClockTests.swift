import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// Processes whose clocks are wrong. What counts is the database's.
@Suite(.timeLimit(.minutes(2))) struct ClockTests {
    private static let library = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/faketime/libfaketime.so.1" }
        .first { FileManager.default.fileExists(atPath: $0) }

    /// What makes a process believe that it is so much later.
    private static func wrong(by span: String) throws -> [String: String] {
        [
            "LD_PRELOAD": try #require(library, "Scripts/setup --checks installs libfaketime"), "FAKETIME": span,
            // Clocks that cannot be set run on.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
        ]
    }

    private struct Line: Decodable { let time: String }

    private static func start(_ roles: String, wrongBy span: String, _ site: Site) throws -> Child {
        try site.start(
            ["run", "--roles", roles], as: FleetLogin(roles: roles), environment: wrong(by: span), throughEnv: true)
    }

    /// How many seconds the process's first line of log lies before the database's time.
    private static func lag(of child: Child, _ site: Site) async throws -> Int64 {
        try await until("it logs") { child.errors.contains("\n") }
        let first = try #require(child.errors.split(separator: "\n").first)
        let time = try JSONDecoder().decode(Line.self, from: Data(first.utf8)).time
        return try await site.count("SELECT extract(epoch FROM now() - \(time)::timestamptz)::bigint")
    }

    @Test func `a campaign is due, sent and not expired by the database's clock, however wrong those of processes are`()
        async throws
    {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 300) { site in
                // Half of ten minutes: a clock that counted would find all of it expired, or not due yet.
                let due = try await site.client.query(
                    "SELECT to_char(now() + interval '3 s', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')")[0].string(0)
                let body = """
                    {"app": "ferry", "name": "Noon", "idempotencyKey": "noon",
                     "message": {"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}},
                     "delivery": {"ttlSeconds": 300}, "audience": {"all": true}, "schedule": {"at": "\(due)"}}
                    """
                let campaign = try CampaignFile.parse(Array(body.utf8), mode: .strict)
                let run = Run.ID(try await site.admin.createCampaign(campaign, body: body).run)
                let late = try Self.start("scheduler,janitor", wrongBy: "-10m", site)
                let early = try Self.start("scheduler,janitor", wrongBy: "+10m", site)
                for span in ["-10m", "+10m"] { _ = try Self.start("worker", wrongBy: span, site) }
                #expect((590...620).contains(try await Self.lag(of: late, site)))
                #expect((-610 ... -580).contains(try await Self.lag(of: early, site)))
                try await site.untilSettled(run)
                try await site.expectSound(run, "wrong clocks")
                let delivered = try await site.progress(of: run).accounting.delivered
                #expect(delivered == 300)
                let outOfTime = try await site.count(
                    """
                    SELECT count(*)
                    FROM pushfleet.delivery
                    WHERE sent_at NOT BETWEEN \(due)::timestamptz AND now() OR at NOT BETWEEN \(due)::timestamptz AND now()
                    """)
                #expect(outOfTime == 0)
            }
        }
    }
}

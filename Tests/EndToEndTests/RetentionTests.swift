import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// The janitor's slow work, in processes as a user starts them.
@Suite(.timeLimit(.minutes(2))) struct RetentionTests {
    private static func count(_ site: Site, _ what: String) async throws -> Int64 {
        try await site.client.query("SELECT count(*) FROM \(unescaped: what)")[0].int64(0)
    }

    @Test(arguments: ["scheduler", "janitor"])
    func `whichever role is up makes days for a week ahead`(role: String) async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                let dropped = try await site.client.query(
                    """
                    SELECT inhrelid::regclass::text FROM pg_inherits
                    WHERE inhparent IN ('pushfleet.delivery'::regclass, 'pushfleet.attempt'::regclass)
                    """)
                for row in dropped { _ = try await site.client.query("DROP TABLE \(unescaped: row.string(0))") }
                _ = try site.start(roles: role)
                for table in ["delivery", "attempt"] {
                    try await until("\(role) has made days of \(table)") {
                        let there = "pg_inherits WHERE inhparent = 'pushfleet.\(table)'::regclass"
                        return try await Self.count(site, there) == 8
                    }
                }
                let last = try await site.client.query(
                    "SELECT to_regclass('pushfleet.delivery_' || to_char(now() AT TIME ZONE 'UTC' + interval '7 days', 'YYYYMMDD')) IS NOT NULL"
                )[0].bool(0)
                #expect(last)
            }
        }
    }

    @Test func `an old day is exported whole before it goes, and stays while it cannot be; its figures outlive it`()
        async throws
    {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 20) { site in
                let run = try await sendAndAge(site)
                let folder = FileManager.default.temporaryDirectory.appending(path: "pushfleet-export-\(UUID())")
                // What has the file's name is no file, and is not given away.
                let file = folder.appending(path: "delivery_20240301.csv")
                try FileManager.default.createDirectory(
                    at: file.appending(path: "kept"), withIntermediateDirectories: true)
                let janitor = try site.start(
                    roles: "janitor", ["--export-directory", folder.path, "--owner-database", site.ownerURL])
                try await until("the export fails") { janitor.errors.contains("cannot be written") }
                #expect(try await Self.count(site, "pushfleet.delivery_20240301") == 20)

                try FileManager.default.removeItem(at: file)
                try await until("the day is gone") {
                    try await Self.count(site, "pg_class WHERE relname = 'delivery_20240301'") == 0
                }
                let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
                #expect(lines.count == 21)
                #expect(lines[0].hasPrefix("run_id,number,subscriber_id,"))
                #expect(Set(lines.dropFirst().compactMap { $0.split(separator: ",").dropFirst().first }).count == 20)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["delivery_20240301.csv"])
                try FileManager.default.removeItem(at: folder)
                #expect(
                    try await Self.count(site, "pushfleet_report.outcomes WHERE run_id = \(run) AND jobs = 20") == 1)
                #expect(
                    try await Self.count(site, "pushfleet_report.runs WHERE run_id = \(run) AND delivered = 20") == 1)
            }
        }
    }

    /// A campaign that was sent, counted and audited in March 2024.
    private func sendAndAge(_ site: Site) async throws -> Run.ID {
        let run = try await site.createCampaign()
        let fleet = try site.start(roles: "scheduler,worker,janitor")
        try await until("the run is counted and audited") {
            let audited = "pushfleet.run_total WHERE audited_at IS NOT NULL AND audit_problems = 0"
            let counted = "pushfleet.tally_hour WHERE n = 20"
            guard try await Self.count(site, audited) == 1 else { return false }
            return try await Self.count(site, counted) == 1
        }
        fleet.signal(SIGTERM)
        await expectExit(fleet, .done)
        _ = try await site.client.query("SELECT pushfleet.ensure_day('delivery', date '2024-03-01')::text")
        _ = try await site.client.query("ALTER TABLE pushfleet.delivery_20240301 OWNER TO fleet_owner")
        _ = try await site.client.query(
            "UPDATE pushfleet.run SET created_at = '2024-03-01 11:00Z' WHERE id = \(run.rawValue)")
        _ = try await site.client.query("UPDATE pushfleet.delivery SET at = '2024-03-01 12:00Z'")
        return run
    }
}

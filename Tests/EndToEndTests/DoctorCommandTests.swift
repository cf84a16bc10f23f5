import Foundation
import Postgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct DoctorCommandTests {
    /// The checks that are wrong, as `--json` prints them; the test server's own settings are its own business.
    private static func wrong(_ output: String) throws -> [String] {
        struct Report: Decodable {
            struct Finding: Decodable { let check, state: String }
            let findings: [Finding]
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        return report.findings.filter { $0.state == "wrong" && !$0.check.hasPrefix("setting ") }.map(\.check)
    }

    @Test func `Doctor connects to the provider, and names what was broken`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 5) { site in
                let (well, _) = try await site.pushfleet(["doctor", "--connect", "--json"])
                #expect(try Self.wrong(well.output) == [], "\(well.output) \(well.errors)")
                #expect(well.output.contains("\"check\":\"origin \(provider.url)\""))
                _ = try await site.createCampaign()
                let janitor = try site.start(roles: "scheduler")
                try await until("jobs are ready") {
                    try await site.client.query("SELECT count(*) FROM pushfleet.batch WHERE state = 0")[0].int64(0) > 0
                }
                janitor.signal(SIGKILL)
                _ = await janitor.exit()
                let day = try await site.client.query(
                    "SELECT to_char((now() AT TIME ZONE 'UTC')::date + 1, 'YYYYMMDD')")[0].string(0)
                _ = try await site.client.query("DROP TABLE pushfleet.delivery_\(unescaped: day)")
                _ = try await site.client.query(
                    "UPDATE pushfleet.credential SET endpoint = 'https://127.0.0.1:1'")
                let (ill, exit) = try await site.pushfleet(["doctor", "--connect", "--json"])
                #expect(exit.status == 1)
                #expect(try Self.wrong(ill.output) == ["partitions", "workers", "origin https://127.0.0.1:1"])
                let (text, _) = try await site.pushfleet(["doctor"])
                #expect(text.output.contains("SELECT pushfleet.ensure_days()"))
                #expect(text.output.contains(" checks are wrong"))
            }
        }
    }
}

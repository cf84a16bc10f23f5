import Domain
import Foundation
import Postgres
import QueueStore
import Testing

/// A provider that calls every address dead.
@Suite(.timeLimit(.minutes(2))) struct TokenWaveTests {
    private struct Wave: Decodable {
        struct Window: Decodable { let from, to: String }
        let app, credential: String
        let window: Window
        let held: Int
        let pausedRuns: [Int64]
    }

    private static func retired(_ site: Site) async throws -> Int64 {
        try await site.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 3")
    }

    @Test func `unregistered for everyone retires no token, pauses the campaign, and one command takes it back`()
        async throws
    {
        // Some 100 sends a second: the wave is seen long before the last.
        try await ProviderProcess.run(["--latency", "100ms"]) { provider in
            try await Site.run(on: provider, subscribers: 500) { site in
                try await provider.setFaults("unregistered=100%")
                let run = try await site.createCampaign()
                _ = try site.start(roles: "scheduler,worker,janitor", ["--connections", "1", "--streams", "10"])
                try await until("the run pauses itself") { try await site.progress(of: run).status == .paused }
                // Well past the time after which a single dead address is retired.
                try await until("what is held is 6 s old") {
                    try await site.count(
                        """
                        SELECT count(*)
                        FROM pushfleet.token_change t
                        WHERE t.verdict = 4
                        HAVING max(t.at) < now() - interval '6 s'
                        UNION ALL SELECT 0
                        """) > 0
                }
                #expect(try await Self.retired(site) == 0)
                try await restore(site, run)

                try await provider.setFaults("none")
                #expect(try await site.pushfleet(["campaign", "resume", "\(run)"]).1 == .done)
                try await site.untilSettled(run)
                try await site.expectSound(run, "wave")
                let accounting = try await site.progress(of: run).accounting
                #expect(accounting.delivered + accounting.unregistered == 500 && accounting.unregistered > 0)
                try await expectOneRetired(site)
            }
        }
    }

    /// By the command that the list of waves names.
    private func restore(_ site: Site, _ run: Run.ID) async throws {
        let (list, status) = try await site.pushfleet(["token", "waves", "--app", "ferry", "--json"])
        #expect(status == .done, "\(list.errors)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let wave = try decoder.decode(Wave.self, from: Data(list.output.utf8))
        #expect(wave.held > 0 && wave.pausedRuns == [run.rawValue])
        let (undo, done) = try await site.pushfleet([
            "token", "restore", "--app", wave.app, "--credential", wave.credential, "--from", wave.window.from, "--to",
            wave.window.to,
        ])
        #expect(done == .done && undo.output == "\(wave.held) addresses are as they were before\n", "\(undo.errors)")
        #expect(try await site.count("SELECT count(*) FROM pushfleet.subscriber WHERE state <> 1") == 0)
    }

    /// A single dead one is no wave.
    private func expectOneRetired(_ site: Site) async throws {
        _ = try await site.client.query(
            "UPDATE pushfleet.subscriber SET address = 'dead-' || address WHERE external_id = 'u7'")
        let run = try await site.createCampaign()
        try await site.untilSettled(run)
        try await until("it is retired") { try await Self.retired(site) == 1 }
        #expect(try await site.progress(of: run).accounting.unregistered == 1)
    }
}

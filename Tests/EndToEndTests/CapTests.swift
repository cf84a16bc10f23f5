import Domain
import Foundation
import Postgres
import QueueStore
import Testing

/// A frequency cap over a fleet of processes.
@Suite(.timeLimit(.minutes(2))) struct CapTests {
    @Test func `two campaigns at once and a killed worker give no user more than the cap`()
        async throws
    {
        let users = 150
        try await ProviderProcess.run(["--latency", "20ms"]) { provider in
            try await Site.run(on: provider, subscribers: 2 * users) { site in
                // Two devices each, but one of the first and the last.
                _ = try await site.client.query("UPDATE pushfleet.subscriber SET user_id = 'p' || id / 2")
                let cap = ["app", "set", "ferry", "--frequency-cap", "1/24h"]
                #expect(try await site.pushfleet(cap).1 == .done)
                let runs = [try await site.createCampaign(batchSize: 20), try await site.createCampaign(batchSize: 20)]
                _ = try site.start(roles: "scheduler,janitor")
                let slowly = ["--connections", "1", "--streams", "4"]
                let fleet = try (0..<3).map { _ in try site.start(roles: "worker", slowly) }
                // Of which run is a race: one may have all of the first users.
                try await until("some is sent") {
                    try await site.accepted(of: runs[0]).count + site.accepted(of: runs[1]).count > 40
                }
                fleet[0].signal(SIGKILL)
                _ = try site.start(roles: "worker", slowly)
                for run in runs {
                    try await site.untilSettled(run)
                    try await site.expectSound(run, "capped")
                }
                // One of the two runs for each user, on all of its devices: a run counts once.
                let reached = try await site.client.query(
                    """
                    SELECT count(DISTINCT s.user_id), count(DISTINCT (s.user_id, d.run_id))
                    FROM pushfleet.delivery d JOIN pushfleet.subscriber s ON s.id = d.subscriber_id
                    WHERE d.outcome = 1
                    """)[0]
                #expect(reached.int64(0) == users + 1 && reached.int64(1) == users + 1)
                let sent = try await site.accepted(of: runs[0]).count + site.accepted(of: runs[1]).count
                #expect(sent == 2 * users)
                // What the killed worker had announced may have left for all that others know: it ends in doubt.
                let capped = try await site.count(
                    """
                    SELECT count(*)
                    FROM pushfleet.delivery d JOIN pushfleet.reason ON reason.code = d.reason
                    WHERE d.outcome IN (6, 7) AND reason.name = 'frequency_cap'
                    """)
                #expect(capped == 2 * users)
            }
        }
    }
}

import Domain
import Postgres
import QueueStore
import Testing

/// Single notifications beside a campaign that takes all that a worker can send.
@Suite(.timeLimit(.minutes(2))) struct LaneTests {
    @Test func `a notification is on the wire within a second although a campaign fills the worker`() async throws {
        try await ProviderProcess.run(["--latency", "200ms"]) { provider in
            try await Site.run(on: provider, subscribers: 1200) { site in
                let run = try await site.createCampaign()
                // Some 50 sends a second: the campaign lasts 20 s.
                _ = try site.start(roles: "scheduler,worker,janitor", ["--connections", "1", "--streams", "10"])
                try await until("the campaign is under way") { try await site.accepted(of: run).count >= 50 }
                for number in 1...5 {
                    let asked = try await provider.now()
                    _ = try await site.client.query(
                        """
                        SELECT pushfleet.notify(
                            'ferry', jsonb_build_object('externalId', 'u' || \(Int32(number))),
                            '{"content": {"en": {"title": "Now", "body": "x"}, "_default": "en"}}'
                        )
                        """)
                    try await until("it arrives") {
                        try await Self.singles(provider, beside: run).count == number
                    }
                    let arrived = try #require(try await Self.singles(provider, beside: run).last)
                    #expect(arrived - asked < 1000)
                }
                #expect(try await site.progress(of: run).accounting.open > 300)
                #expect(try await site.pushfleet(["campaign", "cancel", "\(run)"]).1 == .done)
                try await site.untilSettled(run)
            }
        }
    }

    /// When the sends came that are not of the campaign.
    private static func singles(_ provider: ProviderProcess, beside run: Run.ID) async throws -> [Int64] {
        try await provider.arrivals().filter { $0.device != nil && !$0.id.hasPrefix("\(run)-") }.map(\.milliseconds)
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// Rates of a fleet of three workers, as the provider sees them.
@Suite(.timeLimit(.minutes(3))) struct RateTests {
    private static let rate = 40

    private static func startFleet(_ site: Site, _ options: [String] = []) throws {
        _ = try site.start(roles: "scheduler,janitor")
        for _ in 0..<3 { _ = try site.start(roles: "worker", options) }
    }

    /// When requests of a run arrived, in milliseconds.
    private static func times(of run: Run.ID, _ provider: ProviderProcess) async throws -> [Int64] {
        try await provider.arrivals().filter { $0.device != nil && $0.id.hasPrefix("\(run)-") }.map(\.milliseconds)
    }

    /// The most requests in any second, wherever it begins.
    private static func worstSecond(_ times: some Sequence<Int64>) -> Int {
        let times = times.sorted()
        var (worst, first) = (0, 0)
        for (index, time) in times.enumerated() {
            while times[first] <= time - 1000 { first += 1 }
            worst = max(worst, index - first + 1)
        }
        return worst
    }

    private static func most(_ rate: Double) -> Int { Int((rate * 1.05).rounded(.down)) + 1 }

    private static func expectRate(_ rate: Int, of run: Run.ID, _ site: Site, _ provider: ProviderProcess) async throws
    {
        try await site.untilSettled(run)
        try await site.expectSound(run, "throttled")
        let times = try await times(of: run, provider)
        #expect(times.count == site.subscribers)
        #expect(worstSecond(times) <= most(Double(rate)))
        // And it is used: some second has nearly all of it.
        #expect(worstSecond(times) >= rate * 7 / 10)
    }

    @Test func `no second has more than the rate of campaign, app or route, after a pause and an outage neither`()
        async throws
    {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: Self.rate * 4, relayed: true) { site in
                try Self.startFleet(site)
                // Of the campaign; paused for two seconds.
                let first = try await site.createCampaign(perSecond: Self.rate)
                try await until("it is sent") { try await Self.times(of: first, provider).count > 40 }
                #expect(try await site.pushfleet(["campaign", "pause", "\(first)"]).1 == .done)
                _ = try await provider.passed(2000)
                #expect(try await site.pushfleet(["campaign", "resume", "\(first)"]).1 == .done)
                try await Self.expectRate(Self.rate, of: first, site, provider)

                // Of the app; the database is away for two seconds.
                let perSecond = ["--per-second", "\(Self.rate)"]
                #expect(try await site.pushfleet(["app", "set-rate", "ferry"] + perSecond).1 == .done)
                let second = try await site.createCampaign()
                try await until("it is sent") { try await Self.times(of: second, provider).count > 40 }
                let relay = try #require(site.relay)
                relay.goDown()
                _ = try await provider.passed(2000)
                try relay.comeBack()
                try await Self.expectRate(Self.rate, of: second, site, provider)
                #expect(try await site.pushfleet(["app", "set-rate", "ferry", "--none"]).1 == .done)

                // Of the route.
                let route = ["credential", "set-rate", "firebase", "--app", "ferry", "--ramp", "0"]
                #expect(try await site.pushfleet(route + perSecond).1 == .done)
                let third = try await site.createCampaign()
                try await Self.expectRate(Self.rate, of: third, site, provider)
            }
        }
    }

    @Test func `a 429 that one worker sees slows all within a second, and the rate comes back step by step`()
        async throws
    {
        try await ProviderProcess.run(["--latency", "100ms", "--retry-after", "3"]) { provider in
            // So many that hundreds are left when the rate has come back.
            try await Site.run(on: provider, subscribers: 2100) { site in
                // The one that meets it, some two seconds after the start.
                _ = try await site.client.query(
                    "UPDATE pushfleet.subscriber SET address = 'quota-once-' || address WHERE external_id = 'u300'")
                let run = try await site.createCampaign()
                // Some 50 sends a second and worker.
                try Self.startFleet(site, ["--connections", "1", "--streams", "5"])
                try await site.untilSettled(run)
                try await site.expectSound(run, "slowed")
                let refused = try await provider.arrivals().filter { $0.status == 429 }
                #expect(refused.count == 1)
                let at = try #require(refused.first?.milliseconds)
                let slow = Double(
                    try await site.client.query("SELECT slow_rate FROM pushfleet.route")[0].int32(0))
                let times = try await Self.times(of: run, provider)
                func worst(from: Int64, to: Int64) -> Int {
                    Self.worstSecond(times.filter { $0 > at + from && $0 <= at + to })
                }
                #expect(Double(worst(from: -1000, to: 0)) > slow * 1.3)
                #expect(worst(from: 1000, to: 3000) <= Self.most(slow))
                // From then on it doubles in five seconds.
                #expect(worst(from: 3000, to: 6000) <= Self.most(slow * 1.52))
                #expect(Double(worst(from: 6000, to: 60_000)) > slow * 1.2)
            }
        }
    }
}

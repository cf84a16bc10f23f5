import Domain
import Glibc
import QueueStore
import TestSupport
import Testing

/// Operators' commands against a fleet at work.
@Suite(.timeLimit(.minutes(2))) struct ControlTests {
    /// Some 200 sends a second and worker, so that a run lasts.
    private static let latency = ["--latency", "100ms"]
    private static let slowly = ["--connections", "1", "--streams", "20"]

    private static func startFleet(_ site: Site) throws {
        _ = try site.start(roles: "scheduler,janitor")
        for _ in 0..<2 { _ = try site.start(roles: "worker", slowly) }
    }

    private static func untilSending(_ run: Run.ID, _ site: Site, atLeast count: Int = 100) async throws {
        try await until("\(count) are sent") { try await site.accepted(of: run).count >= count }
    }

    @Test func `after a pause nothing is begun for longer than a second, and a resume goes on`() async throws {
        try await ProviderProcess.run(Self.latency) { provider in
            try await Site.run(on: provider, subscribers: 900) { site in
                let run = try await site.createCampaign()
                try Self.startFleet(site)
                try await Self.untilSending(run, site)
                let (pause, status) = try await site.pushfleet(["campaign", "pause", "\(run)"])
                let paused = try await provider.now()
                #expect(status == .done && pause.output.contains("run \(run) is paused"))
                #expect(try await site.progress(of: run).status == .paused)
                // Long enough that a worker which goes on would be seen.
                try await until("2.5 s have passed") { try await provider.now() > paused + 2500 }
                let resumed = try await provider.now()
                let late = try await provider.arrivals().filter {
                    $0.device != nil && $0.milliseconds > paused + 1000 && $0.milliseconds < resumed
                }
                #expect(late.isEmpty)
                #expect(try await site.progress(of: run).accounting.open > 0)
                let (again, refused) = try await site.pushfleet(["campaign", "pause", "\(run)"])
                #expect(refused == .init(status: 2, bySignal: false) && again.errors.contains("is not running"))

                #expect(try await site.pushfleet(["campaign", "resume", "\(run)"]).1 == .done)
                try await site.untilSettled(run)
                try await site.expectSound(run, "resumed")
                #expect(try await site.progress(of: run).accounting.delivered == site.subscribers)
                #expect(try await provider.count("repeats") == 0)
            }
        }
    }

    @Test func `a cancel stops within a second, says how things stand, and settles to exact figures`() async throws {
        try await ProviderProcess.run(Self.latency) { provider in
            try await Site.run(on: provider, subscribers: 900) { site in
                let run = try await site.createCampaign()
                try Self.startFleet(site)
                try await Self.untilSending(run, site)
                let (cancel, status) = try await site.pushfleet(["campaign", "cancel", "\(run)"])
                let cancelled = try await provider.now()
                #expect(status == .done && cancel.output.contains("run \(run) is cancelled"))
                try await site.untilSettled(run)
                try await until("1.5 s have passed") { try await provider.now() > cancelled + 1500 }
                let late = try await provider.arrivals().filter {
                    $0.device != nil && $0.milliseconds > cancelled + 1000
                }
                #expect(late.isEmpty)
                try await site.expectSound(run, "cancelled")
                let accounting = try await site.progress(of: run).accounting
                #expect(accounting.cancelled > 0 && accounting.delivered > 0)
                #expect(accounting.delivered + accounting.cancelled + accounting.inDoubt == site.subscribers)
                let (_, report) = try await site.pushfleet(["report", "run", "\(run)", "--audit"])
                #expect(report == .done)
            }
        }
    }

    @Test func `a worker that is told to stop finishes what it began, hands back the rest and repeats nothing`()
        async throws
    {
        try await ProviderProcess.run(Self.latency) { provider in
            try await Site.run(on: provider, subscribers: 600) { site in
                let run = try await site.createCampaign()
                _ = try site.start(roles: "scheduler,janitor")
                let worker = try site.start(roles: "worker", Self.slowly)
                try await Self.untilSending(run, site, atLeast: 60)
                let began = ContinuousClock.now
                worker.signal(SIGTERM)
                await expectExit(worker, .done)
                #expect(ContinuousClock.now - began < .seconds(10))
                // At once, without waiting for a lease to lapse.
                let accounting = try await site.progress(of: run).accounting
                #expect(accounting.leased == 0 && accounting.pending > 0)
                #expect(accounting.delivered == (try await site.accepted(of: run)).count)
                _ = try site.start(roles: "worker")
                try await site.untilSettled(run)
                try await site.expectSound(run, "drained")
                let end = try await site.progress(of: run).accounting
                #expect(end.delivered == site.subscribers && end.repeatBound == 0)
                #expect(try await provider.count("repeats") == 0)
            }
        }
    }

    @Test func `one process with all roles drains and ends`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 200) { site in
                let run = try await site.createCampaign()
                let all = try site.start(roles: "scheduler,worker,janitor")
                try await site.untilSettled(run)
                all.signal(SIGINT)
                await expectExit(all, .done)
                try await site.expectSound(run, "all in one")
            }
        }
    }
}

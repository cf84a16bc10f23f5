import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// The database goes away and comes back under a fleet at work.
@Suite(.timeLimit(.minutes(3))) struct OutageTests {
    /// Lends a run that some 100 sends a second and worker are about to take, and the processes that do it.
    private static func withSending(_ body: (ProviderProcess, Site, Relay, Run.ID, [Child]) async throws -> Void)
        async throws
    {
        try await ProviderProcess.run(["--latency", "100ms"]) { provider in
            try await Site.run(on: provider, subscribers: 1500, relayed: true) { site in
                let relay = try #require(site.relay)
                let run = try await site.createCampaign()
                var children = [try site.start(roles: "scheduler,janitor")]
                for _ in 0..<2 {
                    children.append(try site.start(roles: "worker", ["--connections", "1", "--streams", "10"]))
                }
                try await until("100 are sent") { try await site.accepted(of: run).count >= 100 }
                try await body(provider, site, relay, run, children)
            }
        }
    }

    /// It goes on to the end, nothing was lost, and no living worker was taken for a dead one.
    private static func expectUnharmed(_ site: Site, _ run: Run.ID, _ provider: ProviderProcess, _ children: [Child])
        async throws
    {
        try await site.untilSettled(run)
        try await site.expectSound(run, "after the outage")
        #expect(children.allSatisfy { $0.isRunning })
        #expect(try await site.progress(of: run).accounting.delivered == site.subscribers)
        #expect(try await provider.count("repeats") == 0)
        let lapses = try await site.client.query("SELECT max(lapses)::int FROM pushfleet.batch")[0].int32(0)
        #expect(lapses == 0)
    }

    private static func firstSend(after instant: Int64, _ provider: ProviderProcess) async throws -> Int64 {
        func sends() async throws -> [Int64] {
            try await provider.arrivals().filter { $0.device != nil && $0.milliseconds > instant }.map(\.milliseconds)
        }
        try await until("sends go on") { try await sends().isEmpty == false }
        return try #require(try await sends().min())
    }

    @Test func `while the database is away nothing is begun, and sends go on within 5 s of its return`() async throws {
        try await Self.withSending { provider, site, relay, run, children in
            relay.goDown()
            let down = try await provider.now()
            // Longer than the leases, which the database lets lapse meanwhile.
            let back = try await provider.passed(5000)
            let late = try await provider.arrivals().filter {
                $0.device != nil && $0.milliseconds > down + 1000 && $0.milliseconds < back
            }
            #expect(late.isEmpty)
            #expect(children.allSatisfy { $0.isRunning })
            try relay.comeBack()
            let first = try await Self.firstSend(after: back, provider)
            #expect(first - back < 5000)
            try await Self.expectUnharmed(site, run, provider, children)
        }
    }

    @Test func `connections that fell half-open are given up, and sends go on`() async throws {
        try await Self.withSending { provider, site, relay, run, children in
            relay.freeze()
            // What was fresh is used up.
            let stopped = try await provider.passed(1500)
            let first = try await Self.firstSend(after: stopped, provider)
            // A call's deadline, and a second for a new connection.
            #expect(first - stopped < 7000)
            try await Self.expectUnharmed(site, run, provider, children)
        }
    }

    @Test func `while the database is away a process lives and is not ready, and is ready again after it`() async throws
    {
        try await Self.withSending { _, site, relay, _, _ in
            for role in ["worker", "scheduler", "janitor"] {
                let process = try site.start(roles: role, Child.listening)
                try await until("it is ready") { try await process.get("/readyz")?.status == 200 }
                relay.goDown()
                try await until("it is not ready") { try await process.get("/readyz")?.status == 503 }
                #expect(try await process.get("/livez")?.status == 200)
                #expect(try await process.get("/startupz")?.status == 200)
                try relay.comeBack()
                try await until("it is ready again") { try await process.get("/readyz")?.status == 200 }
                #expect(process.isRunning)
            }
        }
    }

    @Test func `whoever asks while the database is away gets the documented status`() async throws {
        try await Self.withSending { _, site, relay, _, _ in
            relay.goDown()
            let (child, status) = try await site.pushfleet(["report", "accounting"])
            #expect(status == .init(status: 3, bySignal: false), "\(child.errors)")
        }
    }
}

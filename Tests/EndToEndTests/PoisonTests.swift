import Domain
import Postgres
import QueueStore
import Testing

/// A job that kills every process that begins it.
@Suite(.timeLimit(.minutes(2))) struct PoisonTests {
    @Test func `after three deaths the job that caused them is set aside with its reason, and the rest goes out`()
        async throws
    {
        try await ProviderProcess.run(["--latency", "20ms"]) { provider in
            try await Site.run(on: provider, subscribers: 120) { site in
                let run = try await site.createCampaign(batchSize: 20)
                _ = try site.start(roles: "scheduler,janitor")
                let poison = "\(run)-50"
                for death in 1...3 {
                    let victim = try site.start(roles: "worker", dieOf: poison)
                    await expectExit(victim, .killed)
                    if death == 3 { try await expectAlone(site) }
                    try await until("what it held is free") {
                        try await site.count("SELECT count(*) FROM pushfleet.batch WHERE state = 1") == 0
                    }
                    // Nobody is accused before the third death.
                    let accused = try await site.count("SELECT count(*) FROM pushfleet.delivery WHERE reason = 5")
                    #expect(accused == (death == 3 ? 1 : 0))
                }
                // It would die of it still.
                let survivor = try site.start(roles: "worker", dieOf: poison)
                try await site.untilSettled(run)
                #expect(survivor.isRunning)
                try await site.expectSound(run, "poison")
                let accounting = try await site.progress(of: run).accounting
                #expect(accounting.delivered == 119 && accounting.inDoubt == 1)
                let row = try await site.client.query(
                    """
                    SELECT d.number, reason.name
                    FROM pushfleet.delivery d
                    JOIN pushfleet.reason ON reason.code = d.reason
                    WHERE d.outcome = 7
                    """)[0]
                #expect(row.int64(0) == 50 && row.string(1) == "poison")
            }
        }
    }

    /// Of the batches that the dead worker left, one alone had a job announced, and that was its one unrecorded job below
    /// the announcement.
    private func expectAlone(_ site: Site) async throws {
        let rows = try await site.client.query(
            """
            SELECT b.lapses, b.announced - bit_count(b.marked)
            FROM pushfleet.batch b
            WHERE b.state = 1 AND b.announced > position(B'0' IN b.marked) - 1
            """)
        #expect(rows.map { $0.int16(0) } == [2] && rows.map { $0.int64(1) } == [1])
    }
}

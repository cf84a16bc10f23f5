import Domain
import Postgres
@testable import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ControlTests {
    @Test func `a paused run is not claimed, and its holders learn of it from the next flush`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            #expect(try await queue.control.pause(run))
            #expect(try await queue.control.pause(run) == false)
            #expect(try await queue.claim(run, worker, number: 2) == nil)
            #expect(try await queue.flush(batch, worker, [], as: .delivered).map(\.run) == [.paused])
            #expect(try await queue.control.resume(run))
            #expect(try await queue.control.resume(run) == false)
            #expect(try await queue.flush(batch, worker, [], as: .delivered).map(\.run) == [.running])
            #expect(try await queue.claim(run, worker, number: 2) != nil)
        }
    }

    @Test func `a paused app stops all of its runs, and a paused run of it stays paused when it goes on`() async throws
    {
        try await QueueFixture.run { queue in
            let first = try await queue.makeExpandedRun()
            let second = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(first, worker))
            #expect(try await queue.control.pause(second))
            #expect(try await queue.control.pauseApp("ferry"))
            #expect(try await queue.control.pauseApp("ferry") == false)
            #expect(try await queue.claim(first, worker, number: 2) == nil)
            #expect(try await queue.flush(batch, worker, [], as: .delivered).map(\.run) == [.paused])
            try await queue.schedule.refreshHeads(of: queue.shard, lane: .campaign)
            #expect(try await queue.batches.heads(of: queue.shard, lane: .campaign).isEmpty)
            #expect(try await queue.control.resumeApp("ferry"))
            #expect(try await queue.claim(first, worker, number: 2) != nil)
            #expect(try await queue.claim(second, worker, number: 3) == nil)
            await #expect(throws: AdminError.self) { try await queue.control.pauseApp("unknown") }
        }
    }

    @Test func `neither cancel nor pause waits for a page of the expansion`() async throws {
        try await QueueFixture.run { queue in
            let runs = [try await queue.makeRun(), try await queue.makeRun()]
            let other = PostgresConnection(
                PostgresConfiguration(queue.database.directURL), logger: TemporaryDatabase.logger)
            try await other.connect()
            _ = try await other.query("BEGIN")
            for run in runs {
                let page = ExpandStatement(
                    shard: queue.shard, run: run, pageSize: 20, audience: PostgresJSON(#"{"all": true}"#),
                    predicate: "true", onePerUser: false
                ).query
                let written = try await other.query(page)
                #expect(written.count == 1)
            }
            // The pages are written and not committed; a call that waited for them would meet its deadline.
            #expect(try await queue.control.pause(runs[0]))
            #expect(try await queue.control.cancel(runs[1]) != nil)
            _ = try await other.query("COMMIT")
            await other.close()
            // What the pages wrote is of a run that was cancelled before: it ends so.
            while try await queue.housekeeping.settle(shard: queue.shard) > 0 {}
            let accounting = try await queue.accounting(runs[1])
            #expect(accounting.targeted == 20 && accounting.cancelled == 20)
            try await queue.expand(runs[1])
            #expect(try await queue.accounting(runs[1]).targeted == 20)
        }
    }

    @Test func `the functions of SQL do and say the same`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs.prefix(4), as: .delivered)
            let id = run.rawValue
            #expect(try await queue.client.query("SELECT pushfleet.pause(\(id))")[0].bool(0))
            #expect(try await queue.client.query("SELECT pushfleet.resume(\(id))")[0].bool(0))
            #expect(try await queue.client.query("SELECT pushfleet.pause_app('ferry')")[0].bool(0))
            #expect(try await queue.client.query("SELECT pushfleet.resume_app('ferry')")[0].bool(0))
            let answer = try await queue.client.query(
                "SELECT delivered, in_flight_at_most, stopped FROM pushfleet.cancel(\(id))")
            #expect(answer.count == 1)
            #expect(answer[0].int64(0) == 4 && answer[0].int64(1) == 6 && answer[0].int64(2) == 30)
            #expect(try await queue.client.query("SELECT delivered FROM pushfleet.cancel(\(id))").isEmpty)
            await #expect(throws: PostgresError.self) {
                try await queue.client.query("SELECT pushfleet.pause_app('unknown')")
            }
        }
    }

    @Test func `a run that paused itself says why until it goes on`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            #expect(try await queue.batches.pause(run: run, reason: .fcmInvalidArgument, detail: "100 in a row"))
            // A second worker's word changes nothing.
            #expect(try await queue.batches.pause(run: run, reason: .fcmInternal, detail: "other") == false)
            let paused = try #require(try await queue.admin.progress(of: run))
            #expect(paused.status == .paused && paused.pausedBecause == "100 in a row")
            #expect(try await queue.control.resume(run))
            let resumed = try #require(try await queue.admin.progress(of: run))
            #expect(resumed.status == .running && resumed.pausedBecause == nil)
        }
    }

    @Test func `the run that single notifications share never pauses itself`() async throws {
        try await QueueFixture.run { queue in
            _ = try await queue.client.query("SELECT pushfleet.ensure_standing_runs()::text")
            let run = Run.ID(try await queue.count("SELECT min(id) FROM pushfleet.run WHERE standing"))
            #expect(
                try await queue.batches.pause(run: run, reason: .fcmInvalidArgument, detail: "100 in a row") == false)
            #expect(try await queue.admin.progress(of: run)?.status == .running)
            // A person may.
            #expect(try await queue.control.pause(run))
        }
    }

    @Test func `a campaign's name stands for its open runs`() async throws {
        try await QueueFixture.run { queue in
            let body = """
                {"app": "ferry", "name": "Winter", "idempotencyKey": "k",
                 "message": {"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}},
                 "audience": {"all": true}, "schedule": {"at": "now"}}
                """
            let campaign = try CampaignFile.parse(Array(body.utf8), mode: .strict)
            let run = Run.ID(try await queue.admin.createCampaign(campaign, body: body).run)
            #expect(try await queue.control.runs(named: "Winter", app: nil) == [run])
            #expect(try await queue.control.runs(named: "\(run)", app: nil) == [run])
            await #expect(throws: AdminError.self) { try await queue.control.runs(named: "Winter", app: "bus") }
            _ = try await queue.control.cancel(run)
            await #expect(throws: AdminError.self) { try await queue.control.runs(named: "Winter", app: nil) }
        }
    }

    @Test func `a worker that was forgotten goes on under the same name`() async throws {
        try await QueueFixture.run { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            try await queue.batches.handBack(batch, begun: 0, notBefore: nil, worker: worker)
            _ = try await queue.client.query("UPDATE pushfleet.worker SET lease_until = now() - interval '2 h'")
            // Right after an outage: lapsed for long, but not seen so.
            try await queue.housekeeping.forgetWorkers(lapsedFor: .seconds(3600))
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.worker") == 1)
            _ = try await queue.client.query("DELETE FROM pushfleet.worker")
            #expect(try await queue.claim(run, worker, number: 2) == nil)
            try await queue.flush(batch, worker, [], as: .delivered)
            #expect(try await queue.claim(run, worker, number: 3) != nil)
        }
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct RoleTests {
    /// The queue as members of each role see it.
    private struct Members {
        var worker: PostgresClient
        var scheduler: PostgresClient
        var janitor: PostgresClient
        var reporter: PostgresClient
    }

    private func client(_ queue: QueueFixture, as role: String) -> PostgresClient {
        let url = queue.database.directURL + "&options=-c%20role%3D" + role
        return PostgresClient(PostgresConfiguration(url), connections: 2, logger: TemporaryDatabase.logger)
    }

    private func withMembers(_ body: (QueueFixture, Members) async throws -> Void) async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            let members = Members(
                worker: client(queue, as: "pushfleet_worker"), scheduler: client(queue, as: "pushfleet_scheduler"),
                janitor: client(queue, as: "pushfleet_janitor"), reporter: client(queue, as: "pushfleet_reporter"))
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(queue, members)) } catch { outcome = .failure(error) }
            for client in [members.worker, members.scheduler, members.janitor, members.reporter] {
                await client.close()
            }
            try outcome.get()
        }
    }

    @Test func `each role can do its work, and no more than it`() async throws {
        try await withMembers { queue, members in
            let scheduler = PostgresScheduleStore(client: members.scheduler)
            let run = try await expand(queue, scheduler)
            try await send(run, queue, PostgresBatchStore(claims: members.worker, flushes: members.worker))
            try await collect(queue, members.worker)
            try await tidy(queue, PostgresHousekeepingStore(client: members.janitor, evacuateAfter: .zero))
        }
    }

    private func expand(_ queue: QueueFixture, _ scheduler: PostgresScheduleStore) async throws -> Run.ID {
        let file = queue.campaign()
        _ = try await queue.client.query("SELECT pushfleet.schedule_campaign(\(PostgresJSON(file)))")
        #expect(try await scheduler.admitCampaigns().begun == 1)
        let run = Run.ID(try await queue.count("SELECT max(id) FROM pushfleet.run"))
        #expect(try await scheduler.unexpandedRuns(of: queue.shard) == [run])
        while let page = try await scheduler.expand(run: run, shard: queue.shard, pageSize: 1000), !page.complete {}
        _ = try await scheduler.beginOccurrences()
        _ = try await scheduler.promote(shard: queue.shard, limit: 100)
        _ = try await scheduler.rebatch(shard: queue.shard, limit: 100)
        for lane in Lane.allCases { try await scheduler.refreshHeads(of: queue.shard, lane: lane) }
        _ = try await scheduler.reopenRoutes()
        try await scheduler.ensureDays()
        try await scheduler.rotateBucketIfNeeded()
        try await scheduler.refreshTimeZones()
        return run
    }

    private func send(_ run: Run.ID, _ queue: QueueFixture, _ batches: PostgresBatchStore) async throws {
        let worker = WorkerID(UUID().uuidString)
        try await batches.enlist(worker, lease: .seconds(600))
        let batch = try #require(
            try await batches.claim(
                shard: queue.shard, worker: worker, claimNumber: 1, pairs: [Pair(run: run, route: queue.route)]))
        let jobs = try await batches.jobs(of: batch, attributes: ["name"])
        #expect(jobs.count == 30)
        _ = try await batches.contentVersion(batch.contentVersion)
        let items = jobs.map { job in
            Flush.Item(
                batch: batch.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber,
                outcome: job.ordinal < 20 ? .delivered : nil, status: 200, reason: .none, attempts: 1,
                addressVersion: job.recipient?.addressVersion)
        }
        let held = Flush.Held(batch: batch.id, epoch: batch.epoch, announce: Int32(batch.size))
        _ = try await batches.flush(
            Flush(
                shard: queue.shard, answeredClaims: 1, checkedClaims: 0, held: [held], items: Array(items.prefix(20))),
            worker: worker, lease: .seconds(600))
        try await batches.handBack(batch, begun: 25, notBefore: nil, worker: worker)
        #expect(try await queue.accounting(run).delivered == 20)
    }

    private func collect(_ queue: QueueFixture, _ client: PostgresClient) async throws {
        _ = try await queue.client.query(
            #"SELECT pushfleet.notify('ferry', '{"externalId": "u1"}', '{"silent": true}')"#)
        let worker = WorkerID(UUID().uuidString)
        let batches = PostgresBatchStore(claims: client, flushes: client)
        try await batches.enlist(worker, lease: .seconds(600))
        let collected = try await PostgresLaneStore(client: client).collect(
            shard: queue.shard, worker: worker, claimNumber: 1, limit: 100)
        #expect(collected.count == 1)
    }

    private func tidy(_ queue: QueueFixture, _ janitor: PostgresHousekeepingStore) async throws {
        try await janitor.sight(as: WorkerID(UUID().uuidString), longestGap: .seconds(5))
        _ = try await janitor.rescue(shard: queue.shard, span: .seconds(5))
        _ = try await janitor.settle(shard: queue.shard)
        try await janitor.raiseWatermarks(shard: queue.shard)
        #expect(try await janitor.sweep(shard: queue.shard) == 0)
        _ = try await janitor.closeRuns()
        _ = try await janitor.dropBuckets(shards: [queue.shard])
        try await janitor.forgetWorkers(lapsedFor: .seconds(60))
        _ = try await janitor.judgeTokens(hold: .seconds(60))
        _ = try await janitor.clearTokens(grace: .seconds(60))
        try await janitor.forgetRates(olderThan: .seconds(60))
        try await janitor.ensureDays()
    }

    @Test func `a reporter sees the report's views and asks for explanations, and nothing else`() async throws {
        try await withMembers { queue, members in
            let tables = try await queue.texts(
                """
                SELECT DISTINCT table_schema FROM information_schema.role_table_grants
                WHERE grantee = 'pushfleet_reporter'
                """)
            #expect(tables == ["pushfleet_report"])
            let functions = try await queue.texts(
                """
                SELECT routine_name FROM information_schema.role_routine_grants
                WHERE grantee = 'pushfleet_reporter' AND routine_schema = 'pushfleet'
                """)
            #expect(functions == ["explain"])
            for view in try await queue.texts(
                "SELECT viewname FROM pg_views WHERE schemaname = 'pushfleet_report' ORDER BY 1")
            {
                _ = try await members.reporter.query("SELECT count(*) FROM pushfleet_report.\(unescaped: view)")
            }
            _ = try await members.reporter.query(
                #"SELECT count(*) FROM pushfleet.explain('ferry', '{"externalId": "u1"}')"#)
            try await expectRefused("SELECT count(*) FROM pushfleet.subscriber", members.reporter)
        }
    }

    @Test func `a worker cannot read drafts, callers or keys, nor change what it does not record`() async throws {
        try await withMembers { _, members in
            for table in [
                "template", "app_caller", "idempotency_key", "campaign", "segment", "token_wave",
                "notification_sibling",
            ] {
                try await expectRefused("SELECT count(*) FROM pushfleet.\(unescaped: table)", members.worker)
            }
            try await expectRefused("UPDATE pushfleet.run SET status = 3", members.worker)
            try await expectRefused("UPDATE pushfleet.subscriber SET address = 'x'", members.worker)
            try await expectRefused("DELETE FROM pushfleet.delivery", members.worker)
            try await expectRefused("SELECT pushfleet.drop_bucket(1)", members.worker)
        }
    }

    @Test func `nobody may call a function of the schema without a grant`() async throws {
        try await withMembers { queue, _ in
            let open = try await queue.texts(
                """
                SELECT p.proname::text FROM pg_proc p
                WHERE p.pronamespace IN ('pushfleet'::regnamespace, 'pushfleet_report'::regnamespace)
                    AND has_function_privilege('public', p.oid, 'EXECUTE')
                """)
            #expect(open == [])
            let unfixed = try await queue.texts(
                """
                SELECT p.proname::text FROM pg_proc p
                WHERE p.pronamespace = 'pushfleet'::regnamespace AND p.prosecdef
                    AND NOT 'search_path=pushfleet, pg_temp' = ANY (coalesce(p.proconfig, '{}'))
                """)
            #expect(unfixed == [])
        }
    }

    private func expectRefused(_ query: PostgresQuery, _ client: PostgresClient) async throws {
        let error = await #expect(throws: PostgresError.self) { _ = try await client.query(query) }
        #expect(error?.code == .insufficientPrivilege, "\(error?.message ?? "")")
    }
}

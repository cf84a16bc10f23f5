import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(10))) struct AudienceExpansionTests {
    /// Tags every seventh subscriber and gives every second a plan.
    private func mark(_ queue: QueueFixture) async throws {
        _ = try await queue.client.query(
            """
            UPDATE pushfleet.subscriber
            SET tags = CASE WHEN id % 7 = 0 THEN ARRAY['seventh'] ELSE '{}' END,
                attributes = jsonb_build_object('plan', CASE WHEN id % 2 = 0 THEN 'pro' ELSE 'free' END)
            """, deadline: .seconds(60))
    }

    private static let audience = #"{"and": [{"tag": ["seventh"]}, {"not": {"attribute": "plan", "eq": "free"}}]}"#

    private func expectReference(_ queue: QueueFixture, _ run: Run.ID) async throws {
        let jobs = try await queue.texts(
            "SELECT number::text FROM pushfleet.job WHERE run_id = \(run.rawValue) ORDER BY number")
        let expected = try await queue.texts(
            """
            SELECT id::text
            FROM pushfleet.subscriber
            WHERE id % 14 = 0 AND registered_at <= (SELECT audience_as_of FROM pushfleet.run WHERE id = \(run.rawValue))
            ORDER BY id
            """)
        #expect(jobs == expected)
    }

    @Test(arguments: [1, 13, 50, 1000] as [Int32])
    func `pages of any size give the subscribers of the audience, once each`(pageSize: Int32) async throws {
        try await QueueFixture.run(subscribers: 100) { queue in
            try await mark(queue)
            let run = Run.ID(try await queue.create(queue.campaign(audience: Self.audience)).run)
            try await queue.expand(run, pageSize: pageSize)
            try await expectReference(queue, run)
            #expect(try await queue.accounting(run).targeted == 7)
        }
    }

    @Test func `a page reads its number of subscribers, however few of them belong to the audience`() async throws {
        try await QueueFixture.run(subscribers: 100) { queue in
            let body = queue.campaign(audience: #"{"externalId": ["u95"]}"#)
            let run = Run.ID(try await queue.create(body).run)
            for page in 1...9 as ClosedRange<Int64> {
                let expanded = try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 10)
                #expect(expanded?.targeted == 0 && expanded?.complete == false)
                #expect(try await queue.count("SELECT last_subscriber_id FROM pushfleet.run_progress") == page * 10)
            }
            #expect(try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 10)?.targeted == 1)
            #expect(try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 10)?.complete == true)
        }
    }

    @Test func `who registers after the cut-off is not targeted, and an edited audience is compiled anew`() async throws
    {
        try await QueueFixture.run(subscribers: 30) { queue in
            let run = Run.ID(try await queue.create(queue.campaign()).run)
            _ = try await queue.client.query(
                "UPDATE pushfleet.subscriber SET registered_at = now() + interval '1 min' WHERE id > 20")
            let stale = ExpandStatement(
                shard: queue.shard, run: run, pageSize: 100, audience: PostgresJSON(#"{"tag": ["x"]}"#),
                predicate: "true", onePerUser: false)
            #expect(try await queue.client.query(stale.query).isEmpty)
            try await queue.expand(run)
            #expect(try await queue.accounting(run).targeted == 20)
        }
    }

    @Test(arguments: [1, 7, 100] as [Int32])
    func `one per user goes to the newest device that belongs and can be sent to`(pageSize: Int32) async throws {
        try await QueueFixture.run(subscribers: 12) { queue in
            // Users a (1 to 4), b (5 to 8); the rest have none. Later ids registered earlier.
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.subscriber
                SET user_id = CASE WHEN id <= 4 THEN 'a' WHEN id <= 8 THEN 'b' END,
                    registered_at = now() - id * interval '1 h',
                    state = CASE WHEN id = 1 THEN 3 ELSE 1 END,
                    transport = CASE WHEN id = 2 THEN 3 ELSE 2 END,
                    tags = CASE WHEN id = 5 THEN '{}' ELSE ARRAY['in'] END
                """)
            let body = queue.campaign(audience: #"{"tag": ["in"]}"#, #""delivery": {"perUser": "newest"}"#)
            let plan = try await queue.admin.plan(
                try CampaignFile.parse(Array(body.utf8), mode: .strict), exact: true)
            let run = Run.ID(try await queue.create(body).run)
            try await queue.expand(run, pageSize: pageSize)
            #expect(
                try await queue.texts("SELECT number::text FROM pushfleet.job ORDER BY job.number")
                    == ["3", "6", "9", "10", "11", "12"])
            #expect(
                try await queue.texts("SELECT number::text FROM pushfleet.delivery WHERE reason = 45 ORDER BY number")
                    == ["4", "7", "8"])
            #expect(plan.sent == 6 && plan.targeted == 11)
            #expect(plan.skipped.first { $0.name == "not_newest" }?.subscribers == 3)
        }
    }

    @Test func `one per user costs a look-up for each subscriber, also where thousands of devices share a user`()
        async throws
    {
        try await QueueFixture.run(subscribers: 20_000) { queue in
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.subscriber
                SET user_id = CASE WHEN id <= 10000 THEN 'everybody' ELSE 'user-' || id / 4 END,
                    registered_at = now() - id * interval '1 s'
                """, deadline: .seconds(60))
            _ = try await queue.client.query("VACUUM ANALYZE pushfleet.subscriber", deadline: .seconds(60))
            let run = Run.ID(try await queue.create(queue.campaign(#""delivery": {"perUser": "newest"}"#)).run)
            let page = ExpandStatement(
                shard: queue.shard, run: run, pageSize: 20_001, audience: PostgresJSON(#"{"all": true}"#),
                predicate: "true", onePerUser: true)
            let plan = try await PlanNode(page.query, queue.client)
            #expect(plan.pages < 20_000 * 20)
            // The newest of everybody, and of 2,501 users.
            #expect(try await queue.accounting(run).pending == 2502)
        }
    }

    /// Backends are killed in the middle of pages as well as between them, while two schedulers expand.
    @Test func `schedulers that are killed again and again leave the jobs of one uninterrupted expansion`() async throws
    {
        try await QueueFixture.run(subscribers: 20_000) { queue in
            try await mark(queue)
            let run = Run.ID(try await queue.create(queue.campaign(audience: Self.audience)).run)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask { try await expandUnderFire(queue, run) }
                }
                group.addTask { try await shoot(queue, run) }
                // A page whose backend died is an error, or was asked for again by the pool.
                var hits = 0
                for try await count in group { hits += count }
                #expect(hits > 0)
            }
            try await expectReference(queue, run)
            #expect(try await queue.accounting(run).targeted == 1428)
        }
    }

    /// How many pages were cut off.
    private func expandUnderFire(_ queue: QueueFixture, _ run: Run.ID) async throws -> Int {
        var failures = 0
        while true {
            do {
                guard try await queue.schedule.unexpandedRuns(of: queue.shard).contains(run) else { return failures }
                _ = try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 50)
            } catch {
                failures += 1
            }
        }
    }

    /// Kills whatever expands, from a connection of its own, until the run is expanded.
    private func shoot(_ queue: QueueFixture, _ run: Run.ID) async throws -> Int {
        let gun = PostgresConnection(PostgresConfiguration(queue.database.directURL), logger: TemporaryDatabase.logger)
        try await gun.connect()
        var shots = 0
        while try await gun.query(
            "SELECT EXISTS (SELECT FROM pushfleet.run_progress WHERE run_id = \(run.rawValue) AND NOT expanded)"
        )[0].bool(0) {
            // At most thirty, each in the middle of a page or of its commit; then the rest goes through.
            guard shots < 30 else { break }
            shots += try await gun.query(
                """
                SELECT pg_terminate_backend(pid)
                FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'active' AND query LIKE '%progress AS MATERIALIZED%'
                    AND pid <> pg_backend_pid()
                """
            ).count
        }
        await gun.close()
        return shots
    }

    @Test func `a million subscribers of whom one in a thousand belongs are read in bounded pages`() async throws {
        try await QueueFixture.run(subscribers: 1_000_000) { queue in
            _ = try await queue.client.query(
                "UPDATE pushfleet.subscriber SET tags = ARRAY['rare'] WHERE id % 1000 = 0", deadline: .seconds(60))
            _ = try await queue.client.query("ANALYZE pushfleet.subscriber", deadline: .seconds(60))
            let run = Run.ID(try await queue.create(queue.campaign(audience: #"{"tag": ["rare"]}"#)).run)
            var pages = 0
            var longest = Duration.zero
            var isComplete = false
            while !isComplete {
                let begun = ContinuousClock.now
                let page = try #require(
                    try await queue.schedule.expand(run: run, shard: queue.shard, pageSize: 50_000))
                longest = max(longest, begun.duration(to: .now))
                #expect(page.targeted <= 50)
                isComplete = page.complete
                pages += 1
            }
            #expect(pages == 21)
            #expect(longest < .seconds(5))
            #expect(try await queue.accounting(run).targeted == 1000)
        }
    }
}

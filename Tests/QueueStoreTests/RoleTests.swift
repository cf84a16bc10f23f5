import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// That each part of the fleet can do its work with its own login, the tests of the stores show: they use these logins.
@Suite(.timeLimit(.minutes(2))) struct RoleTests {
    private static let repository = URL(filePath: #filePath).appending(path: "../../..").standardized

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: repository.appending(path: path), encoding: .utf8)
    }

    @Test func `each role has the privileges that the committed table lists, and no other`() async throws {
        let committed = try Self.text("Migrations/privileges.txt").split(separator: "\n").map { String($0) }
        let list = PostgresQuery(stringLiteral: try Self.text("Scripts/lib/privileges.sql"))
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 1) { client in
                let held = try await client.query(list).map { $0.string(0) }
                #expect(Set(held).subtracting(committed).sorted() == [], "run Scripts/schema-dump")
                #expect(Set(committed).subtracting(held).sorted() == [], "run Scripts/schema-dump")
            }
        }
    }

    @Test func `a partition is reached through its table alone`() async throws {
        try await QueueFixture.run { queue in
            try await queue.schedule.ensureDays()
            let granted = try await queue.texts(
                """
                SELECT c.relname::text
                FROM pg_class c
                CROSS JOIN aclexplode(c.relacl) acl
                WHERE c.relispartition AND acl.grantee <> c.relowner
                """)
            #expect(granted == [])
        }
    }

    @Test func `each process looks after the queue with its own login`() async throws {
        try await QueueFixture.run { queue in
            try await look(queue, PostgresScheduleStore(client: queue.members.scheduler))
            try await look(queue, queue.housekeeping)
            try await queue.books.countTokens()
            _ = try await queue.books.fold(shard: queue.shard)
            #expect(try await queue.books.expiredDays().isEmpty)
            #expect(try await queue.books.mayDropDays())
            let own = PostgresBookkeepingStore(client: queue.members.janitor, owner: queue.members.janitor)
            #expect(try await own.mayDropDays() == false)
            let figures = try await PostgresGaugeStore(client: queue.members.janitor).figures()
            #expect(figures.lanes.count == 2 && figures.credentials.count == 1)
            try await keepToken(PostgresAccessTokenStore(client: queue.members.worker), queue)
        }
    }

    private func look(_ queue: QueueFixture, _ scheduler: PostgresScheduleStore) async throws {
        _ = try await scheduler.beginOccurrences()
        _ = try await scheduler.promote(shard: queue.shard, limit: 100)
        _ = try await scheduler.reopenRoutes()
        try await scheduler.ensureDays()
        try await scheduler.rotateBucketIfNeeded()
        try await scheduler.refreshTimeZones()
    }

    private func look(_ queue: QueueFixture, _ janitor: PostgresHousekeepingStore) async throws {
        try await janitor.sight(as: WorkerID(UUID().uuidString), longestGap: .seconds(5))
        _ = try await janitor.rescue(shard: queue.shard, span: .seconds(5))
        try await janitor.raiseWatermarks(shard: queue.shard)
        _ = try await janitor.dropBuckets(shards: [queue.shard])
        try await janitor.forgetWorkers(lapsedFor: .seconds(60))
        _ = try await janitor.judgeTokens(hold: .seconds(60))
        _ = try await janitor.clearTokens(grace: .seconds(60))
        try await janitor.forgetRates(olderThan: .seconds(60))
        try await janitor.ensureDays()
    }

    private func keepToken(_ tokens: PostgresAccessTokenStore, _ queue: QueueFixture) async throws {
        let worker = WorkerID(UUID().uuidString)
        let credential = Credential.ID(try await queue.count("SELECT id FROM pushfleet.credential"))
        #expect(try await tokens.beginRefresh(credential: credential, by: worker, for: .seconds(5), replacing: nil))
        let now = try await tokens.now()
        try await tokens.store(
            SealedToken(sealed: [1], issuedAt: now, expiresAt: now), credential: credential, by: worker)
        #expect(try await tokens.sealedToken(credential: credential)?.sealed == [1])
    }

    @Test func `a reporter sees the report's views and asks for explanations, and nothing else`() async throws {
        try await QueueFixture.run { queue in
            try await queue.database.withClient(connections: 1, as: .reporter) { reporter in
                for view in try await queue.texts("SELECT viewname FROM pg_views WHERE schemaname = 'pushfleet_report'")
                {
                    _ = try await reporter.query("SELECT count(*) FROM pushfleet_report.\(unescaped: view)")
                }
                _ = try await reporter.query(
                    #"SELECT count(*) FROM pushfleet.explain('ferry', '{"externalId": "u1"}')"#)
                for table in try await queue.texts(
                    "SELECT relname::text FROM pg_class WHERE relnamespace = 'pushfleet'::regnamespace AND relkind IN ('r', 'p', 'v')"
                ) {
                    try await expectRefused("SELECT count(*) FROM pushfleet.\(unescaped: table)", reporter)
                }
                try await expectRefused("SELECT pushfleet.pause_app('ferry')", reporter)
            }
        }
    }

    private static let refusedToWorker: [PostgresQuery] = [
        "SELECT count(*) FROM pushfleet.template", "SELECT count(*) FROM pushfleet.app_caller",
        "SELECT count(*) FROM pushfleet.idempotency_key", "SELECT count(*) FROM pushfleet.campaign",
        "SELECT count(*) FROM pushfleet.segment", "SELECT count(*) FROM pushfleet.token_wave",
        "SELECT external_id FROM pushfleet.subscriber", "SELECT tags FROM pushfleet.subscriber",
        "SELECT audience FROM pushfleet.run", "SELECT plan FROM pushfleet.run",
        "SELECT outcome FROM pushfleet.delivery", "UPDATE pushfleet.run SET status = 3",
        "UPDATE pushfleet.subscriber SET address = 'x'", "UPDATE pushfleet.credential SET file = 'x'",
        "DELETE FROM pushfleet.delivery", "SELECT pushfleet.drop_bucket(1)", "SELECT pushfleet.pause_app('ferry')",
    ]

    @Test func `a worker is refused what it does not need`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            for query in Self.refusedToWorker { try await expectRefused(query, queue.members.worker) }
        }
    }

    private static let refusedToScheduler: [PostgresQuery] = [
        "SELECT address FROM pushfleet.subscriber", "SELECT auth FROM pushfleet.subscriber",
        "SELECT file FROM pushfleet.credential", "SELECT sealed FROM pushfleet.access_token",
        "UPDATE pushfleet.subscriber SET state = 3", "UPDATE pushfleet.run SET status = 3",
        "UPDATE pushfleet.campaign SET body = '{}'", "SELECT pushfleet.pause_app('ferry')",
    ]

    @Test func `a scheduler knows whom it targets, not where they are`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            for query in Self.refusedToScheduler { try await expectRefused(query, queue.members.scheduler) }
        }
    }

    private static let refusedToJanitor: [PostgresQuery] = [
        "SELECT address FROM pushfleet.subscriber", "SELECT attributes FROM pushfleet.subscriber",
        "SELECT message FROM pushfleet.content_version", "SELECT file FROM pushfleet.credential",
        "SELECT sealed FROM pushfleet.access_token", "SELECT count(*) FROM pushfleet.campaign",
        "UPDATE pushfleet.route SET state = 0", "DROP TABLE pushfleet.delivery",
    ]

    @Test func `a janitor counts and clears, and knows nobody`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            for query in Self.refusedToJanitor { try await expectRefused(query, queue.members.janitor) }
        }
    }

    @Test func `nobody may call a function of the schema without a grant`() async throws {
        try await QueueFixture.run { queue in
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
        #expect(error?.code == .insufficientPrivilege, "\(query): \(error?.message ?? "")")
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import Schema
import TestSupport
import Testing

/// What role `pushfleet_intake`, as which strangers are answered, can do and cannot.
@Suite(.timeLimit(.minutes(2))) struct IntakeRoleTests {
    private static func asIntake(_ body: (QueueFixture, PostgresClient) async throws -> Void) async throws {
        try await QueueFixture.run { queue in
            try await queue.database.withClient(connections: 2, as: .intake) { client in try await body(queue, client) }
        }
    }

    @Test func `the role can do all that the intake does`() async throws {
        try await Self.asIntake { queue, client in
            let store = IntakeStore(client)
            let run = try await queue.makeExpandedRun()
            _ = try await queue.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            try await SchemaCheck.require(client, logger: TemporaryDatabase.logger)
            let hash = [UInt8](repeating: 7, count: 32)
            let id = try await queue.admin.addIntakeKey(app: "ferry", hash: hash, label: "pf_abc")
            #expect(try await store.key(hash: hash) == IntakeKey(id: id, app: 1, appName: "ferry"))
            let phone = try IntakeStoreTests.installation("phone", address: "a")
            #expect(try await store.register(phone, app: 1) == .added)
            #expect(try await store.register(phone, app: 1) == .refreshed)
            #expect(try await store.unregister(externalID: "phone", app: 1))
            let event = DeviceEvent(id: UUID().uuidString, run: run, number: 1, kind: .opened, at: nil)
            #expect(try await store.record([event], app: 1) == [.counted])
            #expect(try await store.forget(limit: 10) == 0)
        }
    }

    @Test func `it may call five functions and read which migrations ran, and nothing else`() async throws {
        try await Self.asIntake { queue, _ in
            let tables = try await queue.client.query(
                """
                SELECT table_name || ' ' || privilege_type
                FROM information_schema.role_table_grants
                WHERE grantee = 'pushfleet_intake' AND table_catalog = current_database()
                UNION ALL
                SELECT table_name || '.' || column_name || ' ' || privilege_type
                FROM information_schema.role_column_grants
                WHERE grantee = 'pushfleet_intake' AND table_name <> 'migration'
                """)
            #expect(tables.map { $0.string(0) } == ["migration SELECT"])
            let functions = try await queue.client.query(
                """
                SELECT routine_name::text
                FROM information_schema.role_routine_grants
                WHERE grantee = 'pushfleet_intake'
                ORDER BY 1
                """)
            #expect(
                functions.map { $0.string(0) } == [
                    "forget_events", "intake_caller", "intake_register", "intake_unregister", "record_events",
                ])
        }
    }

    @Test(
        arguments: [
            "SELECT count(*) FROM pushfleet.subscriber", "SELECT address FROM pushfleet.subscriber",
            "DELETE FROM pushfleet.subscriber", "SELECT hash FROM pushfleet.intake_key", "SELECT 1 FROM pushfleet.app",
            "INSERT INTO pushfleet.intake_key (app_id, hash, label) VALUES (1, '', '')",
            "SELECT file FROM pushfleet.credential", "SELECT 1 FROM pushfleet.access_token",
            "UPDATE pushfleet.event_tally SET events = 0", "SELECT 1 FROM pushfleet_report.runs",
        ])
    func `it is refused everything that is not its own`(statement: String) async throws {
        try await Self.asIntake { _, client in
            let query: PostgresQuery = "\(unescaped: statement)"
            let error = await #expect(throws: PostgresError.self) { _ = try await client.query(query) }
            #expect(error?.code == .insufficientPrivilege, "\(error?.message ?? "")")
        }
    }

    @Test func `what runs as the owner has a fixed search path, and is open to nobody else`() async throws {
        try await Self.asIntake { queue, _ in
            let loose = try await queue.client.query(
                """
                SELECT p.proname::text
                FROM pg_proc p
                WHERE p.pronamespace = 'pushfleet'::regnamespace
                    AND (p.proname LIKE 'intake%' OR p.proname IN ('record_events', 'forget_events', 'forget_answers'))
                    AND (
                        NOT p.prosecdef
                        OR NOT 'search_path=pushfleet, pg_temp' = ANY (coalesce(p.proconfig, '{}'))
                        OR has_function_privilege('public', p.oid, 'EXECUTE')
                    )
                """)
            #expect(loose.map { $0.string(0) } == [])
        }
    }

    @Test(arguments: [81, 80]) func `its migrations go back and forth, whether or not the role is used elsewhere`(
        number: Int
    ) async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let client = PostgresClient(
                PostgresConfiguration(queue.database.directURL), connections: 2, logger: TemporaryDatabase.logger)
            let migrator = Migrator(client: client, logger: TemporaryDatabase.logger)
            _ = try await migrator.down(to: number - 1)
            _ = try await migrator.up()
            #expect(try await migrator.status().allSatisfy { $0.state == .applied })
            await client.close()
        }
    }
}

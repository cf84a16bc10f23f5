import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

@testable import Schema

/// A new version is rolled out over a fleet at work: the schema first, then process by process.
@Suite(.timeLimit(.minutes(3))) struct UpgradeTests {
    private static func migration(_ number: Int, lowestBinary: Int, _ up: String) throws -> Migration {
        try Migration(
            title: "\(number)_next",
            up: """
                -- why: what a later version adds
                -- locks: tables, for a moment
                -- safe with workers running: yes
                -- lowest binary: \(lowestBinary)

                \(up)
                """, down: "SELECT 1;")
    }

    /// What later versions may do beside running processes: columns, defaults, indexes, functions, tables; of the hot tables
    /// one at a time, for two locked in one transaction may deadlock with a flush.
    private static func next() throws -> [Migration] {
        let changes = [
            "ALTER TABLE pushfleet.run ADD COLUMN later text;",
            "ALTER TABLE pushfleet.batch ADD COLUMN later int NOT NULL DEFAULT 7;",
            "ALTER TABLE pushfleet.subscriber ADD COLUMN later text NOT NULL DEFAULT 'x';",
            "ALTER TABLE pushfleet.retry ADD COLUMN later smallint;",
            "ALTER TABLE pushfleet.delivery ADD COLUMN later text;",
            "ALTER TABLE pushfleet.job ADD COLUMN later text;",
            "CREATE INDEX batch_later ON pushfleet.batch (shard, later) WHERE state = 0;",
            """
            CREATE TABLE pushfleet.later (id bigint PRIMARY KEY);
            CREATE OR REPLACE FUNCTION pushfleet.latency_class(milliseconds double precision) RETURNS smallint
            LANGUAGE sql IMMUTABLE PARALLEL SAFE
            AS $$ SELECT least(127, ceil(4 / ln(2::double precision) * ln(greatest(1, milliseconds)) - 1e-9))::smallint $$;
            """,
        ]
        return try changes.enumerated().map { index, change in
            try migration(9001 + index, lowestBinary: BinaryLevel.current, change)
        }
    }

    @Test func `old workers send while the next migrations run and new ones start; all of it is delivered once`()
        async throws
    {
        try await ProviderProcess.run(["--latency", "100ms"]) { provider in
            try await Site.run(on: provider, subscribers: 1500) { site in
                let run = try await site.createCampaign()
                let slowly = ["--connections", "1", "--streams", "10"]
                let keepers = [try site.start(roles: "scheduler"), try site.start(roles: "janitor")]
                let old = [try site.start(roles: "worker", slowly), try site.start(roles: "worker", slowly)]
                func sent() async throws -> Int { try await site.accepted(of: run).count }
                try await until("100 are sent") { try await sent() >= 100 }
                for migration in try Self.next() {
                    let before = try await sent()
                    let migrator = Migrator(
                        client: site.client, logger: TemporaryDatabase.logger, migrations: Migrations.all + [migration])
                    #expect(try await migrator.up().map(\.number) == [migration.number])
                    try await until("they go on sending") { try await sent() > before + 10 }
                }
                let new = [try site.start(roles: "worker", slowly), try site.start(roles: "scheduler,janitor")]
                for child in old + keepers { child.signal(SIGTERM) }
                for child in old + keepers { await expectExit(child, .done) }
                try await site.untilSettled(run)
                try await site.expectSound(run, "after the upgrade")
                #expect(try await site.progress(of: run).accounting.delivered == site.subscribers)
                #expect(try await provider.count("repeats") == 0)
                for child in old + keepers + new {
                    #expect(!child.errors.contains("\"level\":\"error\""), "\(child.errors)")
                }
            }
        }
    }

    @Test func `a process that the schema leaves behind is refused at its start and told what to do`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                let later = try Self.migration(9001, lowestBinary: BinaryLevel.current + 1, "SELECT 1;")
                try await site.client.withConnection { connection in
                    _ = try await connection.query(.insertMigration(later))
                }
                let (child, exit) = try await site.pushfleet(["run", "--roles", "worker"])
                #expect(exit == .init(status: 4, bySignal: false))
                #expect(child.errors.contains("9001_next"), "\(child.errors)")
            }
        }
    }
}

import Postgres
import Testing

@testable import Schema

@Suite(.timeLimit(.minutes(1))) struct MigratorTests {
    @Test(arguments: [2, 8]) func `migrators at once apply each migration once`(count: Int) async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            let applied = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<count {
                    group.addTask { try await database.migrator(migrations).up().map(\.number) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(applied.sorted() == [1, 2, 3])
            let log = try await database.client.query("SELECT number FROM pushfleet.log ORDER BY number")
            #expect(log.map { $0.int32(0) } == [1, 2, 3])
        }
    }

    @Test func `up, down and up again give the same schema, down none`() async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            let empty = try database.dump()
            let migrator = database.migrator(migrations)
            #expect(try await migrator.up().map(\.number) == [1, 2, 3])
            let first = try database.dump()
            #expect(first.contains("CREATE FUNCTION pushfleet.twice") && first.contains("pushfleet.migration"))
            #expect(try await migrator.down(to: 0).map(\.number) == [3, 2, 1])
            #expect(try database.dump() == empty)
            #expect(try await migrator.up().map(\.number) == [1, 2, 3])
            #expect(try database.dump() == first)
        }
    }

    @Test func `up and down go as far as they are told`() async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            let migrator = database.migrator(migrations)
            #expect(try await migrator.status().map(\.state) == [.pending, .pending, .pending])
            #expect(try await migrator.up(to: 2).map(\.number) == [1, 2])
            #expect(try await migrator.up(to: 2).isEmpty)
            #expect(try await migrator.status().map(\.state) == [.applied, .applied, .pending])
            #expect(try await migrator.up().map(\.number) == [3])
            #expect(try await migrator.down(to: 1).map(\.number) == [3, 2])
            let status = try await migrator.status()
            #expect(status.map(\.state) == [.applied, .pending, .pending])
            #expect(status[0].title == "0001_first" && status[0].appliedAt != nil && status[1].appliedAt == nil)
        }
    }

    @Test func `a file that was edited after it ran is refused`() async throws {
        let migrations = try Migration.three()
        var edited = migrations
        edited[1] = try Migration.fixture("0002_second", up: "CREATE TABLE item (id int)", down: "DROP TABLE item")
        try await TemporaryDatabase.run { [edited] database in
            _ = try await database.migrator(migrations).up(to: 2)
            try await database.migrator(migrations).verify()
            let migrator = database.migrator(edited)
            for attempt in [{ _ = try await migrator.up() }, migrator.verify] {
                let error = try await #require(throws: SchemaError.self) { try await attempt() }
                #expect(error.code == .edited)
                #expect(error.description.hasPrefix("migration 0002_second was edited after it ran; restore the file"))
            }
            #expect(try await migrator.status().map(\.state) == [.applied, .edited, .pending])
        }
    }

    @Test func `a schema that excludes this binary is refused, and the remedy named`() async throws {
        let known = try Migration.three()
        let newer = try Migration.fixture(
            "0004_newer", lowestBinary: BinaryLevel.current + 1, up: "DROP TABLE item", down: "SELECT 1")
        try await TemporaryDatabase.run { database in
            // As the newer binary does, which has the level.
            _ = try await database.migrator(known).up()
            _ = try await database.client.query(.insertMigration(newer))
            let migrator = database.migrator(known)
            for attempt in [{ _ = try await migrator.up() }, migrator.verify, migrator.verifyComplete] {
                let error = try await #require(throws: SchemaError.self) { try await attempt() }
                #expect(error.code == .binaryTooOld)
                #expect(error.message.contains("needs a binary of level 2 since migration 0004_newer"))
                #expect(error.remedy.hasSuffix("run with it: pushfleet migrate down --to 3"))
            }
            let error = try await #require(throws: SchemaError.self) { try await migrator.down(to: 0) }
            #expect(error.code == .unknownMigration)
        }
    }

    @Test func `a newer schema that allows this binary is none of its business`() async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            _ = try await database.migrator(migrations).up()
            let older = database.migrator(Array(migrations.prefix(2)))
            try await older.verifyComplete()
            #expect(try await older.up().isEmpty)
            #expect(try await older.status().map(\.state) == [.applied, .applied, .unknown])
        }
    }

    @Test func `a process does not start on a schema that is behind`() async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            let migrator = database.migrator(migrations)
            for (target, missing) in [(0, "0001_first, 0002_second, 0003_third"), (2, "0003_third")] {
                _ = try await migrator.up(to: target)
                let error = try await #require(throws: SchemaError.self) { try await migrator.verifyComplete() }
                let expected = "the schema is behind this binary: \(missing) not applied; run: pushfleet migrate up"
                #expect(error.description == expected)
            }
            _ = try await migrator.up()
            try await migrator.verifyComplete()
        }
    }

    @Test func `a migration that fails leaves nothing half done and says where`() async throws {
        var migrations = Array(try Migration.three().prefix(1))
        migrations.append(
            try Migration.fixture(
                "0002_broken", up: "CREATE TABLE half (id int);\n\nINSERT INTO log VALUES (2);\nSELECT nothing;",
                down: "SELECT 1"))
        try await TemporaryDatabase.run { [migrations] database in
            let migrator = database.migrator(migrations)
            let error = try await #require(throws: SchemaError.self) { try await migrator.up() }
            #expect(error.code == .statementFailed)
            #expect(error.message.hasPrefix("migration 0002_broken.up.sql, statement 3 (line 8): column \"nothing\""))
            #expect(error.underlying?.code == .undefinedObject)
            #expect(try await migrator.status().map(\.state) == [.applied, .pending])
            #expect(try !database.dump().contains("half"))
            let log = try await database.client.query("SELECT count(*) FROM pushfleet.log")
            #expect(log[0].int64(0) == 1)
        }
    }

    @Test func `a way back that fails leaves the migration applied`() async throws {
        let migrations = [
            try Migration.fixture("0001_first", up: "CREATE SCHEMA pushfleet", down: "DROP SCHEMA pushfleet; SELECT x")
        ]
        try await TemporaryDatabase.run { database in
            let migrator = database.migrator(migrations)
            _ = try await migrator.up()
            let before = try database.dump()
            let error = try await #require(throws: SchemaError.self) { try await migrator.down(to: 0) }
            #expect(error.message.hasPrefix("migration 0001_first.down.sql, statement 2 (line 1)"))
            #expect(try database.dump() == before)
        }
    }

    @Test func `a migration that finds its table locked gives up soon`() async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            _ = try await database.migrator(migrations).up(to: 2)
            try await database.client.withTransaction { connection in
                _ = try await connection.query("LOCK TABLE pushfleet.item IN ACCESS SHARE MODE")
                let migrator = database.migrator(migrations, lockTimeout: .milliseconds(50))
                let error = try await #require(throws: SchemaError.self) { try await migrator.up() }
                #expect(error.underlying?.code == .lockNotAvailable)
                #expect(error.remedy.contains("at a quieter moment"))
            }
            #expect(try await database.migrator(migrations).up().map(\.number) == [3])
        }
    }

    @Test func `a migration that landed late is not slipped in before others`() async throws {
        let migrations = try Migration.three()
        try await TemporaryDatabase.run { database in
            let without = [migrations[0], try Migration.fixture("0003_third", up: "SELECT 1", down: "SELECT 1")]
            _ = try await database.migrator(without).up()
            let late = [without[0], migrations[1], without[1]]
            let error = try await #require(throws: SchemaError.self) { try await database.migrator(late).up() }
            #expect(error.code == .outOfOrder)
        }
    }

    @Test func `what a file sets for the session does not stay on the connection`() async throws {
        let migrations = [
            try Migration.fixture(
                "0001_first", up: "CREATE SCHEMA pushfleet; SET search_path = pushfleet; SET lock_timeout = 1;",
                down: "DROP SCHEMA pushfleet")
        ]
        try await TemporaryDatabase.run { database in
            let client = PostgresClient(
                PostgresConfiguration(database.url), connections: 1, logger: TemporaryDatabase.logger)
            let before = try await client.query("SHOW search_path")[0].string(0)
            _ = try await Migrator(client: client, logger: TemporaryDatabase.logger, migrations: migrations).up()
            #expect(try await client.query("SHOW search_path")[0].string(0) == before)
            #expect(try await client.query("SHOW lock_timeout")[0].string(0) == "0")
            await client.close()
        }
    }
}

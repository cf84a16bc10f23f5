import Foundation
import Testing

@testable import Schema

@Suite struct MigrationFileTests {
    @Test func `the binary carries the files of the repository as they are`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Migrations")
            .standardized
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".up.sql") || $0.hasSuffix(".down.sql") }
        #expect(Set(embeddedMigrationFiles.map(\.name)) == Set(names))
        for file in embeddedMigrationFiles {
            let text = try String(contentsOf: folder.appending(path: file.name), encoding: .utf8)
            #expect(file.text == text, "\(file.name)")
        }
    }

    @Test func `every migration is well formed, and none needs a newer binary than this`() throws {
        let migrations = try Migrations.read(embeddedMigrationFiles)
        #expect(migrations.allSatisfy { $0.lowestBinary <= BinaryLevel.current })
        #expect(migrations.map(\.lowestBinary) == migrations.map(\.lowestBinary).sorted())
    }

    @Test func `the header tells what an operator wants to know`() throws {
        let up = """
            -- why: leases: one per worker
            -- locks: batch, ACCESS EXCLUSIVE, some ms
            -- safe with workers running: no
            -- lowest binary: 3
            -- Anything else.
            SELECT 1;
            -- why: not this
            """
        let migration = try Migration(title: "0012_job_lease", up: up, down: "SELECT 2")
        #expect(migration.number == 12 && migration.name == "job_lease" && migration.title == "0012_job_lease")
        #expect(migration.why == "leases: one per worker" && migration.locks == "batch, ACCESS EXCLUSIVE, some ms")
        #expect(!migration.isSafeWithWorkers && migration.lowestBinary == 3 && migration.up == up)
    }

    @Test(arguments: [
        ("12_short", "", "its name does not begin with four digits"),
        ("0000_zero", "", "its name does not begin with four digits"),
        ("0001_a", "why", "'-- why: …' is missing"), ("0001_a", "locks", "'-- locks: …' is missing"),
        ("0001_a", "safe", "'-- safe with workers running: yes' or 'no' is missing"),
        ("0001_a", "lowest", "'-- lowest binary: N' is missing"),
    ])
    func `a file without its header is refused`(title: String, without: String, expected: String) throws {
        let lines = Migration.header().split(separator: "\n").filter {
            without.isEmpty || !$0.hasPrefix("-- \(without)")
        }
        let up = lines.joined(separator: "\n")
        let error = try #require(throws: SchemaError.self) { try Migration(title: title, up: up, down: "") }
        #expect(error.code == .malformedFile)
        #expect(error.message.contains(expected))
    }

    @Test(arguments: ["BEGIN", "commit", "Rollback", "START TRANSACTION", "END", "savepoint a"])
    func `a file cannot end the transaction that it runs in`(statement: String) throws {
        let error = try #require(throws: SchemaError.self) {
            try Migration.fixture("0001_a", up: "SELECT 1;\n\(statement);", down: "")
        }
        #expect(error.message.contains("in line 6: the transaction is the migrator's"))
    }

    @Test(arguments: [
        (["0001_a.up.sql"], "the way back, '.down.sql', is missing"),
        (["0001_a.down.sql"], "no '.up.sql' goes with it"),
        (["0001_a.up.sql", "0001_a.down.sql", "0001_b.up.sql", "0001_b.down.sql"], "its number is that of another"),
    ])
    func `files come in pairs with numbers of their own`(names: [String], expected: String) throws {
        let files = names.map { (name: $0, text: Migration.header()) }
        let error = try #require(throws: SchemaError.self) { try Migrations.read(files) }
        #expect(error.message.contains(expected))
    }

    @Test func `migrations come in order of their numbers`() throws {
        let names = [
            "0010_c.down.sql", "0002_b.up.sql", "0001_a.up.sql", "0010_c.up.sql", "0002_b.down.sql", "0001_a.down.sql",
        ]
        let migrations = try Migrations.read(names.map { (name: $0, text: Migration.header()) })
        #expect(migrations.map(\.number) == [1, 2, 10])
    }
}

import Foundation
import Testing

@testable import Schema

/// The migrations of this repository, all of them.
@Suite(.timeLimit(.minutes(1))) struct CommittedSchemaTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized

    @Test func `the committed dump is what the migrations give`() async throws {
        let committed = try String(
            contentsOf: Self.repository.appending(path: "Migrations/schema.sql"), encoding: .utf8)
        try await TemporaryDatabase.run { database in
            _ = try await database.migrator(Migrations.all).up()
            let migrated = try dump(database)
            // The first line says who wrote it.
            let expected = committed.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            let difference = migrated.split(separator: "\n", omittingEmptySubsequences: false)
                .difference(from: expected)
            #expect(difference.isEmpty, "run Scripts/schema-dump: \(describe(difference))")
        }
    }

    @Test func `up, down to nothing and up again make no difference`() async throws {
        try await TemporaryDatabase.run { database in
            let empty = try database.dump()
            let migrator = database.migrator(Migrations.all)
            _ = try await migrator.up()
            let first = try database.dump()
            _ = try await migrator.down(to: 0)
            #expect(try database.dump() == empty)
            _ = try await migrator.up()
            #expect(try database.dump() == first)
        }
    }

    @Test func `each migration can be taken back and applied again on its own`() async throws {
        try await TemporaryDatabase.run { database in
            let migrator = database.migrator(Migrations.all)
            for migration in Migrations.all {
                _ = try await migrator.up(to: migration.number)
                let applied = try database.dump()
                _ = try await migrator.down(to: migration.number - 1)
                _ = try await migrator.up(to: migration.number)
                #expect(try database.dump() == applied, "\(migration.title)")
            }
        }
    }

    private func dump(_ database: TemporaryDatabase) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = Self.repository.appending(path: "Scripts/lib/dump-schema")
        process.arguments = [database.url]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return text
    }

    private func describe(_ difference: CollectionDifference<Substring>) -> String {
        difference.prefix(20).map { change in
            switch change {
            case .insert(_, let line, _): "+ \(line)"
            case .remove(_, let line, _): "- \(line)"
            }
        }.joined(separator: "\n")
    }
}

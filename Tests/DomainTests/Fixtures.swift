import Foundation
import Testing

/// The tables of cases beside these tests.
enum Fixtures {
    static func bytes(_ path: String) throws -> [UInt8] {
        let root = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        return Array(try Data(contentsOf: root.appendingPathComponent(path)))
    }

    static func decode<Table: Decodable>(_ path: String, as type: Table.Type = Table.self) throws -> Table {
        try JSONDecoder().decode(type, from: Data(try bytes(path)))
    }

    /// File names in a folder, sorted.
    static func names(in folder: String, suffix: String) throws -> [String] {
        let root = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        return names.filter { $0.hasSuffix(suffix) }.sorted()
    }
}

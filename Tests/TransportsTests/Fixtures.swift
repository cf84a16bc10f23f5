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
}

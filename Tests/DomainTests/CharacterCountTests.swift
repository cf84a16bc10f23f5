import Testing

@testable import Domain

struct GraphemeTable: Decodable {
    struct Own: Decodable, Sendable { var codePoints: String; var characters: Int; var utf8: Int }
    struct Limit: Decodable, Sendable {
        var unit: String
        var `repeat`: Int
        var characters: Int
        var title: String
        var body: String
        /// Refused by the guard alone. The table has it at 4,096 bytes; it was decided to be at 16,384.
        var `guard`: Bool
    }
    struct Disagreement: Decodable { var codePoints: String; var swift: Int }
    struct Row: Decodable, Sendable {
        var codePoints: String
        var clusters: Int
        init(from decoder: any Decoder) throws {
            var row = try decoder.unkeyedContainer()
            codePoints = try row.decode(String.self)
            clusters = try row.decode(Int.self)
        }
    }
    var own: [Own]
    var limits: [Limit]
    var swiftDisagrees: [Disagreement]
    var unicode: [Row]
    static func load() throws -> GraphemeTable { try Fixtures.decode("graphemes.json") }
}

struct CharacterCountTests {
    @Test(arguments: try GraphemeTable.load().own)
    func `our own strings have the characters counted by hand`(row: GraphemeTable.Own) {
        expect(row.codePoints, counts: row.characters)
        #expect(text(row.codePoints).utf8.count == row.utf8)
    }

    @Test func `every row of Unicode's test data counts as the fleet counts it`() throws {
        let table = try GraphemeTable.load()
        let known = Dictionary(uniqueKeysWithValues: table.swiftDisagrees.map { ($0.codePoints, $0.swift) })
        #expect(table.unicode.count == 766)
        for row in table.unicode { expect(row.codePoints, counts: known[row.codePoints] ?? row.clusters) }
    }

    @Test(arguments: try GraphemeTable.load().limits)
    func `limits bind characters, not bytes`(row: GraphemeTable.Limit) {
        let text = String(repeating: row.unit, count: row.repeat)
        #expect(CharacterCount.of(text, exceeds: 200) == (row.guard ? row.characters > 200 : row.title != "ok"))
        #expect(CharacterCount.of(text, exceeds: 1000) == (row.guard ? row.characters > 1000 : row.body != "ok"))
    }

    @Test func `past 16,384 bytes a field is too long however few characters it has`() {
        let family = "👨‍👩‍👧‍👦"  // 25 bytes
        #expect(!CharacterCount.of(String(repeating: family, count: 655) + "123456789", exceeds: 1000))
        #expect(CharacterCount.of(String(repeating: family, count: 655) + "1234567890", exceeds: 1000))
    }

    private func expect(_ codePoints: String, counts characters: Int) {
        let text = text(codePoints)
        #expect(!CharacterCount.of(text, exceeds: characters), "\(codePoints)")
        #expect(CharacterCount.of(text, exceeds: characters - 1), "\(codePoints)")
    }

    private func text(_ codePoints: String) -> String {
        var scalars = String.UnicodeScalarView()
        for hex in codePoints.split(separator: " ") {
            if let value = UInt32(hex, radix: 16), let scalar = UnicodeScalar(value) { scalars.append(scalar) }
        }
        return String(scalars)
    }
}

import Testing

@testable import Domain

struct LanguageTable: Decodable {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        var id: Int
        var keys: [String]
        var `default`: String
        var subscriber: String?
        var chosen: String

        var testDescription: String { "\(id): \(subscriber ?? "nil") among \(keys)" }
    }
    struct InvalidMap: Decodable, Sendable {
        var keys: [String]
        var `default`: String?
        var problems: [String]
    }
    var cases: [Case]
    var invalidMaps: [InvalidMap]

    static func load() throws -> LanguageTable { try Fixtures.decode("languages.json") }
}

struct LanguageResolverTests {
    /// The table was written before aliases were decided on; these rows follow the decision.
    static let decided = [70: "he", 77: "iw", 79: "id", 80: "id", 85: "fil", 93: "sr-Latn"]

    @Test(arguments: try LanguageTable.load().cases)
    func `each subscriber gets the variant that the table names`(row: LanguageTable.Case) throws {
        let resolver = try resolver(keys: row.keys, default: row.default)
        #expect(row.keys[resolver.resolve(row.subscriber)] == Self.decided[row.id] ?? row.chosen)
    }

    @Test(arguments: [
        (["en", "en-x"], "en", "en-x-foo", "en"),
        (["en", "de"], "de", "en-aaaaaaaa-bbbbbbbb-cccccccc-dddddddd", "de"),
        (["en", "de"], "de", "en_US.UTF-8 ", "en"),
    ])
    func `what the specification left open follows the decisions`(
        keys: [String], fallback: String, subscriber: String, chosen: String
    ) throws {
        #expect(keys[try resolver(keys: keys, default: fallback).resolve(subscriber)] == chosen)
    }

    @Test(arguments: [
        ("iw-IL", "he-il"), ("in_ID", "id-id"), ("ji", "yi"), ("jw", "jv"), ("mo-MD", "ro-md"), ("tl-PH", "fil-ph"),
        ("sh", "sr-latn"), ("sh-RS", "sr-latn-rs"), ("sh-Cyrl-RS", "sr-cyrl-rs"), ("cmn-Hans", "zh-hans"),
        ("en-UK", "en-gb"), ("zh-Hant-UK", "zh-hant-gb"), ("en-x-uk", "en-x-uk"), ("no", "no"), ("eng", "eng"),
    ])
    func `old codes are replaced before comparison`(written: String, compared: String) throws {
        #expect(try #require(LanguageTag(key: written)).description == compared)
    }

    @Test func `an old code in the map serves and is served by the new one`() throws {
        let resolver = try resolver(keys: ["iw", "en"], default: "EN")
        #expect(resolver.resolve("he-IL") == 0)
        #expect(resolver.resolve("iw_IL") == 0)
    }

    @Test func `the chain names what was tried up to the match`() throws {
        let resolver = try resolver(keys: ["zh", "en"], default: "en")
        #expect(resolver.chain("zh_Hant_TW.UTF-8") == ["zh-hant-tw", "zh-hant", "zh"])
        #expect(resolver.chain("fr-CA-x-foo") == ["fr-ca-x-foo", "fr-ca", "fr", "_default"])
        #expect(resolver.chain("english language") == ["_default"])
        #expect(resolver.chain(nil) == ["_default"])
    }

    private func resolver(keys: [String], default name: String) throws -> LanguageResolver {
        let tags = keys.map { LanguageTag(key: $0) }
        return LanguageResolver(keys: keys, defaultIndex: try #require(tags.firstIndex(of: LanguageTag(key: name))))
    }
}

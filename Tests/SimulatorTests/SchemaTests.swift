import FoundationEssentials
import Testing

@testable import Simulator

@Suite struct SchemaTests {
    private struct Document: Decodable {
        struct Message: Decodable {
            let fields: [Field]
        }
        struct Field: Decodable {
            let json: String
            let proto: String
            let type: String
            let format: String?
            let message: String?
            let value: String?
            let values: [String]?
            let required: Bool?
        }
        let messages: [String: Message]
    }

    private let document: Document

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "TransportsTests/Fixtures/fcm-v1-schema.json")
        document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: file))
    }

    /// The compiled rule for a field, in either spelling.
    private func rule(_ name: String, in shape: Shape.Name) throws -> FieldRule? {
        var scanner = JSONScanner(Array("\"\(name)\"".utf8))
        return try Schema.fcm.rule(for: scanner.string(), in: shape, scanner).map { Schema.fcm.rules[$0] }
    }

    private func shape(_ message: String) throws -> Shape.Name {
        try #require(Shape.Name.allCases.first { "\($0)".lowercased() == message.lowercased() }, "\(message)")
    }

    @Test func `the schema has the fields of the discovery document and no other`() throws {
        #expect(document.messages.count == Shape.Name.allCases.count)
        for (name, message) in document.messages {
            let shape = try shape(name)
            let definition = try #require(Schema.definitions.first { $0.shape == shape })
            #expect(Set(definition.fields.map(\.name)) == Set(message.fields.map(\.proto)), "\(name)")
            let required = message.fields.filter { $0.required == true }.map(\.proto)
            #expect(Set(definition.required) == Set(required), "\(name)")
        }
    }

    @Test func `every field is found in both spellings, with its type`() throws {
        for (name, message) in document.messages {
            let shape = try shape(name)
            for field in message.fields {
                let rule = try #require(try rule(field.proto, in: shape), "\(name).\(field.proto)")
                #expect(try self.rule(field.json, in: shape)?.kind == rule.kind, "\(name).\(field.json)")
                #expect(try fits(rule.kind, field), "\(name).\(field.proto)")
            }
        }
    }

    private func fits(_ kind: FieldRule.Kind, _ field: Document.Field) throws -> Bool {
        switch kind {
        case .string(let check):
            let isDuration = check == .duration || check == .timeToLive
            return field.type == "string" && isDuration == (field.format == "google-duration")
                && (check == .timestamp) == (field.format == "google-datetime")
        case .strings: return field.type == "array"
        case .bool: return field.type == "boolean"
        case .int32: return field.format == "int32"
        case .fraction: return field.type == "number"
        case .choice(let choice):
            let values = Schema.fcm.values(of: choice).map { String(decoding: $0, as: UTF8.self) }
            return field.type == "enum" && Set(values.map { $0.uppercased() }) == Set(field.values ?? [])
        case .message(let shape): return try field.type == "message" && shape == self.shape(field.message ?? "")
        case .textMap: return field.type == "map" && field.value == "string"
        case .anyMap: return field.type == "map" && field.value == "any"
        }
    }

    @Test func `a name of another message is unknown`() throws {
        #expect(try rule("ttl", in: .message) == nil)
        #expect(try rule("titl", in: .notification) == nil)
        #expect(try rule("collapsekey", in: .androidConfig) == nil)
    }
}

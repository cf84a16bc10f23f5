import Foundation
import Testing

@testable import Domain

struct PlaceholderTable: Decodable {
    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        var id: Int
        var template: String
        var field: String
        var attributes: [String: Attribute]
        var result: String?
        var error: String?

        var testDescription: String { "\(id): \(template.prefix(60))" }
    }

    /// An attribute as the store hands it over: scalars as their JSON text, all else missing.
    struct Attribute: Decodable, Sendable {
        var text: String?

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let string = try? value.decode(String.self) {
                text = string
            } else if let flag = try? value.decode(Bool.self) {
                text = String(flag)
            } else if let number = try? value.decode(Int.self) {
                text = String(number)
            } else if let number = try? value.decode(Double.self) {
                text = String(number)
            }
        }
    }

    var cases: [Case]
    static func load() throws -> PlaceholderTable { try Fixtures.decode("placeholders.json") }
}

struct TemplateTests {
    @Test(arguments: try PlaceholderTable.load().cases)
    func `each template gives what the table says`(row: PlaceholderTable.Case) {
        let values = row.attributes.compactMapValues(\.text)
        let outcome = outcome(row.template, field: row.field, values: values)
        if let error = row.error {
            #expect(outcome == .failure(Refused(code: error)))
        } else {
            #expect(outcome.map { Array($0.utf8) } == .success(Array((row.result ?? "").utf8)))
        }
    }

    @Test(
        arguments: [
            ("{{a|{x}}}", "text", ["a": "V"], "V}"),
            ("{{a|x}}}", "text", ["a": "V"], "V}"),
            ("{{a.b}}!", "text", [:], "!"),
            ("{{n}}", "text", ["n": "7.0"], "7.0"),
            ("[{{n|none}}]", "text", ["n": "\u{A0}"], "[none]"),
            ("[{{n|none}}]", "text", ["n": "\u{3000}"], "[none]"),
            ("[{{n|none}}]", "text", ["n": "\u{200B}"], "[\u{200B}]"),
            ("{{\na\n}}", "text", ["a": "V"], "placeholder_malformed"),
            ("{{a|\n x \n}}", "text", [:], "\n x \n"),
            (" {{link}}", "url", ["link": "https://x.example/"], "rendered_url_invalid"),
            ("ferry://trip/{{a|b c}}", "url", [:], "rendered_url_invalid"),
            (
                "https://{{host|www}}.ferry.example/", "url", ["host": "evil.example/"],
                "https://evil.example%2F.ferry.example/"
            ),
            ("https://{{host}}/", "url", [:], "rendered_url_invalid"),
        ] as [(String, String, [String: String], String)])
    func `what the specification left open follows the decisions`(
        template: String, field: String, values: [String: String], expected: String
    ) {
        switch outcome(template, field: field, values: values) {
        case .success(let text): #expect(text == expected)
        case .failure(let refused): #expect(refused.code == expected)
        }
    }

    @Test(arguments: [
        (ByteEscaping.json, #"{"t":"@"}"#), (.jsonTwice, #"{"t":"{\"t\":\"@\"}"}"#),
    ])
    func `escaped output reads back as the text itself`(escaping: ByteEscaping, frame: String) throws {
        let nasty = (0...0x1F).map { String(UnicodeScalar($0)) }.joined() + #""\/"# + "\u{7F}é👩‍👩‍👧\u{2028}\\n"
        let template = try #require(Template.parse(nasty + "{{a|" + nasty + "}}{{b}}"))
        let compiled = CompiledTemplate(template, field: .text, names: ["a", "b"], escaping: escaping)
        var bytes: [UInt8] = []
        #expect(compiled.append([nil, nasty], to: &bytes) == nil)
        var json = frame.replacingOccurrences(of: "@", with: String(decoding: bytes, as: UTF8.self))
        for _ in 0..<(escaping == .jsonTwice ? 2 : 1) {
            json = try #require(try JSONDecoder().decode([String: String].self, from: Data(json.utf8))["t"])
        }
        #expect(
            Array(json.utf8) == Array((nasty + nasty.trimmingCharacters(in: .init(charactersIn: " \t")) + nasty).utf8))
    }

    @Test func `a link is checked as it reads, not as JSON writes it`() throws {
        let template = try #require(Template.parse(#"ferry://trip/"{{a}}\"#))
        let compiled = CompiledTemplate(template, field: .url, names: ["a"], escaping: .json)
        var bytes = Array("[".utf8)
        #expect(compiled.append([#"""#], to: &bytes) == nil)
        #expect(String(decoding: bytes, as: UTF8.self) == #"[ferry://trip/\"%22\\"#)
    }

    @Test func `a template's source parses to the same template`() throws {
        for row in try PlaceholderTable.load().cases {
            guard let template = Template.parse(row.template) else { continue }
            #expect(Template.parse(template.source) == template)
        }
    }

    private struct Refused: Error, Equatable { var code: String }

    /// Accepts and renders one field, as a message would.
    private func outcome(_ text: String, field: String, values: [String: String]) -> Result<String, Refused> {
        if field == "fixed" {
            return text.contains("{{") ? .failure(Refused(code: "placeholder_not_allowed")) : .success(text)
        }
        guard let template = Template.parse(text) else { return .failure(Refused(code: "placeholder_malformed")) }
        if field == "url" {
            switch URLRules.fault(ofLink: Array(text.utf8).span) {
            case .tooLong: return .failure(Refused(code: "url_too_long"))
            case .invalid where !template.hasPlaceholders: return .failure(Refused(code: "url_invalid"))
            default: break
            }
        }
        let names = Array(Set(template.segments.compactMap(\.name))).sorted()
        let compiled = CompiledTemplate(template, field: field == "url" ? .url : .text, names: names)
        var bytes: [UInt8] = []
        if let reason = compiled.append(names.map { values[$0] }, to: &bytes) {
            return .failure(Refused(code: reason.name))
        }
        return .success(String(decoding: bytes, as: UTF8.self))
    }
}

extension Template.Segment {
    var name: String? { if case .placeholder(let name, _) = self { name } else { nil } }
}

import Domain
import Foundation
import Testing

@testable import Transports

/// Every field of the v1 message that an author may set, from the provider's own description of it.
@Suite struct FCMOverrideFieldsTests {
    struct Schema: Decodable {
        struct Field: Decodable {
            var json: String
            var proto: String
            var type: String
            var message: String?
            var values: [String]?
            var format: String?
            var items: Item?
            struct Item: Decodable {
                var type: String?
                var format: String?
            }
        }
        struct Message: Decodable { var fields: [Field] }
        var messages: [String: Message]
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var path: [String]
        var camelPath: [String]
        var sample: String
        var wrong: String
        var testDescription: String { path.joined(separator: "/") }
    }

    /// All leaves under the three blocks.
    static func rows() throws -> [Row] {
        let schema: Schema = try Fixtures.decode("fcm-v1-schema.json")
        var rows: [Row] = []
        func walk(_ message: String, _ path: [String], _ camel: [String]) {
            for field in schema.messages[message]?.fields ?? [] {
                let (here, there) = (path + [field.proto], camel + [field.json])
                if let inner = field.message, inner != "LightSettings" {
                    walk(inner, here, there)
                } else {
                    rows.append(row(field, here, there))
                }
            }
        }
        walk("AndroidConfig", ["android"], ["android"])
        walk("ApnsConfig", ["apns"], ["apns"])
        walk("WebpushConfig", ["webpush"], ["webpush"])
        return rows
    }

    private static func row(_ field: Schema.Field, _ path: [String], _ camel: [String]) -> Row {
        let samples: [String: String] = [
            "color": "\"#0b6e99\"", "eventTime": "\"2031-03-01T08:30:00Z\"", "link": "\"https://x.example/\"",
            "analyticsLabel": "\"winter\"", "vibrateTimings": "[\"0s\",\"0.25s\"]", "ttl": "\"900s\"",
            "titleLocArgs": "[\"a\"]", "bodyLocArgs": "[\"a\"]", "headers": "{\"x-own\":\"1\"}",
            "data": "{\"a\":\"b\"}",
            "payload": "{\"a\":1}",
            "lightSettings":
                "{\"color\":{\"red\":1,\"green\":0.5,\"blue\":0,\"alpha\":1},\"light_on_duration\":\"1s\",\"light_off_duration\":\"2s\"}",
        ]
        let byType = ["boolean": "true", "integer": "7", "string": "\"text\"", "struct": "{\"a\":1}"]
        let sample =
            camel == ["webpush", "notification"]
            ? "{\"a\":1}"
            : samples[field.json] ?? field.values.map { "\"\($0[0])\"" } ?? byType[field.type] ?? "{\"a\":1}"
        return Row(path: path, camelPath: camel, sample: sample, wrong: sample == "true" ? "\"x\"" : "[1]")
    }

    /// `{"a":{"b":value}}`, with what the field needs beside it.
    private func block(_ path: [String], _ value: String) -> String {
        var inner = "\"\(path.last!)\":\(value)"
        if let name = path.last, name.lowercased().replacing("_", with: "").hasSuffix("locargs") {
            inner += ",\"\(name.replacing("_args", with: "_key").replacing("Args", with: "Key"))\":\"k\""
        }
        return path.dropLast().reversed().reduce("{\(inner)}") { "{\"\($1)\":\($0)}" }
    }

    private func message(_ overrides: String) throws -> Message {
        try MessageReader.message(
            from: #"{"content":{"en":{"title":"T","body":"B"},"_default":"en"},"overrides":\#(overrides)}"#)
    }

    @Test func `the table covers the message`() throws {
        let rows = try Self.rows()
        #expect(rows.count == 46)
    }

    @Test(arguments: try rows()) func `a field in either spelling stands in the message that is sent`(row: Row) throws {
        for path in [row.path, row.camelPath] {
            for mode in DeliveryOptions.FCMMode.allCases {
                let content = ContentVersion(
                    id: .init(1), message: try message(block(path, row.sample)),
                    delivery: DeliveryOptions(fcmMode: mode))
                let rendered = try Rendering(content, language: nil, attributes: [:])
                var value: Any? = try json(rendered.bytes)["message"]
                for key in row.path { value = (value as? NSDictionary)?[key] }
                let sample = try JSONSerialization.jsonObject(with: Data(row.sample.utf8), options: .fragmentsAllowed)
                if let members = sample as? NSDictionary, let found = value as? NSDictionary {
                    for (key, member) in members { #expect(found[key] as? NSObject == member as? NSObject) }
                } else {
                    #expect(value as? NSObject == sample as? NSObject)
                }
            }
        }
    }

    @Test(arguments: try rows()) func `a value of another type is refused at its place`(row: Row) {
        let error = #expect(throws: ContentProblems.self) { try message(block(row.path, row.wrong)) }
        #expect(
            error?.problems.contains { $0.pointer.hasPrefix("/overrides/" + row.path.joined(separator: "/")) } == true)
    }
}

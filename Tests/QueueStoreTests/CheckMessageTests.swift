import Domain
import Foundation
import Postgres
import TestSupport
import Testing

/// The database's rules against the strict reader's, on the same messages.
@Suite(.timeLimit(.minutes(2))) struct CheckMessageTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "DomainTests/Fixtures")

    /// Sorted `code pointer`.
    private func swiftProblems(_ message: String) -> [String] {
        let file = #"{"app":"ferry","name":"n","audience":{"all":true},"message":\#(message)}"#
        do {
            _ = try CampaignFile.parse(Array(file.utf8), mode: .strict)
            return []
        } catch { return error.problems.map { "\($0.code) \($0.pointer)" }.sorted() }
    }

    private func databaseProblems(_ message: String, _ client: PostgresClient) async throws -> [String] {
        try await client.query("SELECT code || ' ' || pointer FROM pushfleet.check_message(\(PostgresJSON(message)))")
            .map { $0.string(0) }.sorted()
    }

    private func expectSameVerdict(_ messages: [String], _ client: PostgresClient) async throws {
        for message in messages {
            let expected = swiftProblems(message)
            #expect(try await databaseProblems(message, client) == expected, "\(message.prefix(300))")
        }
    }

    private func messages(of folder: String) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.fixtures.appending(path: folder), includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "json" }.compactMap { file in
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: file))
            guard case .object(let members) = value else { return nil }
            return members["message"]?.text
        }
    }

    @Test func `the campaigns of the tables get the same verdict`() async throws {
        let valid = try messages(of: "campaigns")
        let invalid = try messages(of: "campaigns/invalid")
        #expect(valid.count >= 12 && invalid.count >= 20)
        try await TemporaryDatabase.run {
            try await $0.withClient { client in
                try await expectSameVerdict(valid + invalid, client)
            }
        }
    }

    @Test func `each rule of the content model is decided alike`() async throws {
        try await TemporaryDatabase.run {
            try await $0.withClient { client in
                try await expectSameVerdict(MessageCases.all, client)
            }
        }
    }

    @Test func `placeholders are read alike`() async throws {
        struct Table: Decodable {
            struct Case: Decodable { var template: String }
            var cases: [Case]
        }
        let table = try JSONDecoder().decode(
            Table.self, from: Data(contentsOf: Self.fixtures.appending(path: "placeholders.json")))
        let messages = table.cases.flatMap { row in
            let text = JSONValue.string(row.template).text
            return [MessageCases.variant(#""body":\#(text)"#), MessageCases.variant(#""url":\#(text)"#)]
        }
        #expect(messages.count > 60)
        try await TemporaryDatabase.run {
            try await $0.withClient { client in
                try await expectSameVerdict(messages, client)
            }
        }
    }

    @Test func `what the database counts is never more than the characters of a text`() async throws {
        struct Table: Decodable {
            struct Text: Decodable { var text: String }
            var own: [Text]
        }
        let data = try Data(contentsOf: Self.fixtures.appending(path: "graphemes.json"))
        var texts = try JSONDecoder().decode(Table.self, from: data).own.map(\.text)
        // The Unicode test data: code points and clusters.
        if case .object(let root) = try JSONDecoder().decode(JSONValue.self, from: data),
            case .array(let rows)? = root["unicode"]
        {
            for case .array(let row) in rows {
                guard case .string(let points)? = row.first else { continue }
                let scalars = points.split(separator: " ").compactMap {
                    UInt32($0, radix: 16).flatMap(Unicode.Scalar.init)
                }
                texts.append(String(String.UnicodeScalarView(scalars)))
            }
        }
        texts = texts.filter { !$0.unicodeScalars.contains("\0") }
        #expect(texts.count > 700)
        let counted = texts
        try await TemporaryDatabase.run {
            try await $0.withClient { client in
                let rows = try await client.query(
                    """
                    SELECT pushfleet.least_characters(text)
                    FROM unnest(\(counted)::text[]) WITH ORDINALITY AS given (text, place)
                    ORDER BY place
                    """)
                for (text, row) in zip(counted, rows) {
                    #expect(row.int32(0) <= text.count, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
                }
            }
        }
    }

    /// Rows marked `grapheme`: joined Hangul beyond what marks and joiners explain is left to the worker.
    @Test func `a text is never refused for its length by the database alone`() async throws {
        let family = "👨‍👩‍👧‍👦"
        let texts = [
            String(repeating: family, count: 200), String(repeating: "e\u{301}", count: 200),
            String(repeating: "🇹🇷", count: 200), String(repeating: "한", count: 200),
            String(repeating: "\u{1112}\u{1161}\u{11AB}", count: 200), String(repeating: "นี้", count: 200),
            String(repeating: "क्षि", count: 200),
        ]
        let accepted = texts.map { MessageCases.variant(#""title":"\#($0)""#) }
        let refused = ["x", family, "🇹🇷", "e\u{301}", "한", "\u{1112}\u{1161}\u{11AB}", "นี้"].map {
            MessageCases.variant(#""title":"\#(String(repeating: $0, count: 201))""#)
        }
        try await TemporaryDatabase.run {
            try await $0.withClient { client in
                try await expectSameVerdict(accepted + refused, client)
            }
        }
    }
}

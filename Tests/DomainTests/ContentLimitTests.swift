import Testing

@testable import Domain

/// Each limit of the content model on both of its sides.
struct ContentLimitTests {
    struct Limit: CustomTestStringConvertible, Sendable {
        /// `%` stands for the value.
        var message: String
        var taken: [String]
        var refused: [String]
        var code: String
        var testDescription: String { "\(code) \(message.prefix(60))" }
    }

    private static func variant(_ member: String) -> String {
        let others = [#""title":"T""#, #""body":"B""#].filter { !member.hasPrefix($0.prefix(7)) }
        return #"{"content":{"en":{\#((others + [member]).joined(separator: ","))},"_default":"en"}}"#
    }

    private static func presentation(_ member: String) -> String {
        #"{"content":{"en":{"title":"T","body":"B"},"_default":"en"},"presentation":{\#(member)}}"#
    }

    private static func data(_ members: String) -> String { #"{"silent":true,"data":{\#(members)}}"# }

    private static func text(_ count: Int, of character: String = "x") -> String {
        "\"" + String(repeating: character, count: count) + "\""
    }

    private static func link(_ count: Int, _ start: String = "s://") -> String {
        "\"" + start + String(repeating: "x", count: count - start.count) + "\""
    }

    private static let family = "👨‍👩‍👧‍👦"

    static let texts: [Limit] = [
        Limit(
            message: variant(#""title":%"#), taken: [text(1), text(200), text(200, of: family)],
            refused: [text(201), text(201, of: family), text(656, of: family)], code: "title_too_long"),
        Limit(
            message: variant(#""title":%"#), taken: ["\"\u{200B}\""], refused: ["\"\"", "\" \\t\u{2003}\""],
            code: "title_missing"),
        Limit(
            message: variant(#""body":%"#), taken: [text(1000), text(655, of: family)],
            refused: [text(1001), text(1001, of: "e\u{301}"), text(656, of: family)], code: "body_too_long"),
        Limit(message: variant(#""body":%"#), taken: ["\".\""], refused: ["\"\"", "\"\\n\""], code: "body_missing"),
        Limit(
            message: variant(#""image":%"#),
            taken: ["\"https://x.example/a\"", "\"HTTPS://x.example\"", link(2048, "https://x/")],
            refused: [
                "\"http://x.example/a\"", "\"https://\"", "\"//x.example/a\"", "\"a.png\"", "\"\"", "\"https://x /a\"",
                link(2049, "https://x/"),
            ], code: "image_invalid"),
        Limit(
            message: variant(#""url":%"#),
            taken: ["\"ferry://trip\"", "\"http://x.example\"", "\"mailto:a@x.example\"", "\"{{a}}\"", link(2048)],
            refused: [
                "\"javascript:alert(1)\"", "\"DATA:text/html,x\"", "\"vbscript:x\"", "\"file:///etc\"", "\"trip\"",
                "\"\"",
                "\"https://\"", "\"s://a b\"", "\"https:///x\"",
            ], code: "url_invalid"),
        Limit(message: variant(#""url":%"#), taken: [link(2048)], refused: [link(2049)], code: "url_too_long"),
    ]

    static let buttons: [Limit] = [
        Limit(
            message: variant(#""actions":%"#),
            taken: ["[]", #"[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"}]"#],
            refused: [
                #"[{"id":"a","title":"A"},{"id":"b","title":"B"},{"id":"c","title":"C"},{"id":"d","title":"D"}]"#
            ],
            code: "actions_too_many"),
        Limit(
            message: variant(#""actions":[{"title":"A","id":%}]"#), taken: [text(32), #""a-z_0""#],
            refused: [text(33), #""""#, #""A""#, #""a b""#, #""é""#], code: "action_id_invalid"),
        Limit(
            message: variant(#""actions":[{"title":"A","id":"a"},{"title":"B","id":%}]"#), taken: [#""b""#],
            refused: [#""a""#], code: "action_id_duplicate"),
        Limit(
            message: variant(#""actions":[{"id":"a","title":%}]"#), taken: [text(40), text(40, of: family)],
            refused: [text(41)], code: "action_title_too_long"),
        Limit(
            message: variant(#""actions":[{"id":"a","title":%}]"#), taken: [text(1)], refused: [#""""#, #"" ""#],
            code: "action_title_missing"),
        Limit(
            message: variant(#""actions":[{"id":"a","title":%}]"#), taken: [#""{a}""#], refused: [#""{{a}}""#],
            code: "placeholder_not_allowed"),
    ]

    static let options: [Limit] = [
        Limit(
            message: presentation(#""badge":%"#), taken: ["0", "99999", "7.0"], refused: ["-1", "100000", "1.5"],
            code: "presentation_invalid"),
        Limit(
            message: presentation(#""sound":%"#), taken: [#""default""#, #""none""#, #""a_B.-9.caf""#, text(64)],
            refused: [text(65), #""""#, #""a/b""#, #""é""#], code: "presentation_invalid"),
        Limit(
            message: presentation(#""threadId":%"#), taken: [text(64, of: family), #""any text""#],
            refused: [text(65), #""""#], code: "presentation_invalid"),
        Limit(
            message: presentation(#""channelId":%"#), taken: [text(64)], refused: [text(65), #""a b""#],
            code: "presentation_invalid"),
        Limit(
            message: presentation(#""icon":%"#), taken: [#""https://x.example/i""#],
            refused: [#""http://x.example/i""#],
            code: "presentation_invalid"),
        Limit(
            message: presentation(#""interruptionLevel":%"#),
            taken: [#""passive""#, #""active""#, #""time-sensitive""#, #""critical""#],
            refused: [#""timeSensitive""#, #""""#],
            code: "presentation_invalid"),
        Limit(
            message: presentation(#""relevanceScore":%"#), taken: ["0", "1", "0.5"], refused: ["-0.1", "1.01"],
            code: "presentation_invalid"),
        Limit(message: presentation(#""vibrate":%"#), taken: [], refused: ["true"], code: "unknown_field"),
    ]

    static let entries: [Limit] = [
        Limit(
            message: data(#"%:"v""#), taken: [text(64), text(64, of: family)], refused: [text(65)],
            code: "data_key_too_long"),
        Limit(message: data(#"%:"v""#), taken: [#"" ""#], refused: [#""""#], code: "data_key_invalid"),
        Limit(
            message: data(#"%:"v""#), taken: [#""fromage""#, #""Message_Types""#, #""mygcm""#, #""id""#],
            refused: [
                #""from""#, #""FROM""#, #""Message_Type""#, #""collapse_key""#, #""APS""#, #""google""#,
                #""Googles.x""#,
                #""gcm.x""#, #""GCMx""#, #""_""#, #""_id""#,
            ], code: "data_key_reserved"),
        Limit(
            message: data(#""k":%"#), taken: [#""""#, text(1024), text(600, of: family), #""{{a}}""#],
            refused: [text(1025), text(656, of: family)], code: "data_value_too_long"),
        Limit(
            message: data(#""k":%"#), taken: [#""1""#], refused: ["1", "true", "null", "{}", "[]"],
            code: "data_not_string"),
    ]

    @Test(arguments: texts + buttons + options + entries)
    func `a value on the right side of a limit is taken, on the other it is refused by its code`(limit: Limit) {
        for value in limit.taken { #expect(codes(limit.message.replacing("%", with: value)) == []) }
        for value in limit.refused {
            #expect(codes(limit.message.replacing("%", with: value)) == [limit.code], "\(value.prefix(40))")
        }
    }

    @Test func `a silent message takes no notice of its content and presentation`() {
        #expect(codes(#"{"silent":true,"content":{"en":{"title":""}},"presentation":{"badge":-1}}"#) == [])
        #expect(codes(#"{"silent":false,"content":{"en":{"title":"T","body":"B"},"_default":"en"}}"#) == [])
        #expect(codes(#"{"silent":false}"#) == ["content_missing"])
    }

    @Test func `nothing is trimmed or normalised`() throws {
        let message = try MessageReader.message(
            from: #"{"content":{"en":{"title":"  e\u0301 ","body":"B"},"_default":"EN"}}"#)
        #expect(message.variants[0].title.segments == [.literal("  e\u{301} ")])
        #expect(Array(message.variants[0].title.source.utf8) == Array("  e\u{301} ".utf8))
    }

    private func codes(_ message: String) -> [String] {
        do {
            _ = try MessageReader.message(from: message)
            return []
        } catch { return error.problems.map(\.code) }
    }
}

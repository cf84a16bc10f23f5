import Testing

@testable import Domain

struct AudienceProblemTests {
    private static func nested(_ depth: Int) -> String {
        String(repeating: #"{"not":"#, count: depth) + #"{"all":true}"# + String(repeating: "}", count: depth)
    }

    private func problems(_ audience: String) -> [Problem] {
        do {
            _ = try Audience(json: Array(audience.utf8))
            return []
        } catch {
            return error.problems
        }
    }

    @Test(
        arguments: [
            (#"{"attribute": "a", "eq": 0.12345678901234567}"#, ["audience_invalid"], [""]),
            (#"{"attribute": "a", "eq": 12345678901234567890}"#, ["audience_invalid"], [""]),
            (#"{"attribute": "a", "eq": 1e-300}"#, ["audience_invalid"], [""]),
            (#"{"attribute": "a", "eq": 1e999}"#, ["json_invalid"], [""]),
            (
                #"{"attribute": "a\u0000", "eq": "\u0000"}"#, ["character_invalid", "character_invalid"],
                ["/attribute", "/eq"]
            ),
            (#"{"attribute": "a", "gt": true}"#, ["audience_invalid"], ["/gt"]),
            (#"{"attribute": "a", "eq": {"b": 1}}"#, ["type_invalid"], ["/eq"]),
            (nested(15), [], []),
            (nested(16), ["audience_invalid"], [String(repeating: "/not", count: 16)]),
            (nested(60), ["audience_invalid"], [String(repeating: "/not", count: 16)]),
            (nested(5000), ["json_invalid"], [""]),
            (#"{"tag": ["\#(String(repeating: "x", count: 1_000_000))"]}"#, ["audience_invalid"], ["/tag/0"]),
            (
                #"{"attribute": "\#(String(repeating: "x", count: 1025))", "exists": true}"#, ["audience_invalid"],
                ["/attribute"]
            ),
            ("[1]", ["type_invalid"], [""]),
            (
                #"{"and": [{"tag": []}, {"user": [7]}, {"seen": {"after": "soon"}}, {"what": 1}]}"#,
                ["audience_invalid", "type_invalid", "audience_invalid", "audience_invalid", "unknown_field"],
                ["/and/0/tag", "/and/1/user/0", "/and/2/seen/after", "/and/3", "/and/3/what"]
            ),
        ] as [(String, [String], [String])])
    func `everything wrong is named at once, with its place`(
        audience: String, codes: [String], pointers: [String]
    ) {
        let found = problems(audience)
        #expect(found.map(\.code) == codes)
        #expect(found.map(\.pointer) == pointers)
        #expect(found.allSatisfy { !$0.remedy.isEmpty })
    }

    @Test func `an audience has at most 500 conditions and lists of 100,000`() {
        let many = (0..<500).map { #"{"tag": ["t\#($0)"]}"# }.joined(separator: ",")
        #expect(problems(#"{"or": [\#(many)]}"#).map(\.code) == ["audience_invalid"])
        let users = (0...100_000).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(problems(#"{"user": [\#(users)]}"#).map(\.pointer) == ["/user"])
    }

    @Test(
        arguments: [
            ("1", true), ("-9223372036854775808", true), ("9223372036854775808", false), ("0.1", true), ("1e280", true),
            ("123456789012345e10", true), ("1234567890123456.5", false), ("0.000000000000001", true), ("1e-400", false),
            (#""12345678901234567890""#, true), (#""\"1.2345678901234567890""#, true), ("[true, 1.00]", true),
        ])
    func `numbers that a double would change are found`(json: String, isExact: Bool) {
        #expect(ExactNumbers.allExact(in: Array(json.utf8)) == isExact)
    }
}

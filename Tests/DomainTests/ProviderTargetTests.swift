import Testing

@testable import Domain

struct ProviderTargetTests {
    @Test(arguments: [
        "'a' in topics", "'a' in topics && 'b' in topics", "'a' in topics || ('b' in topics && 'c' in topics)",
        "!('a' in topics)", "('a' in topics)", "!('a' in topics || 'b' in topics) && 'c' in topics",
        "'a' in topics && 'b' in topics && 'c' in topics && 'd' in topics && 'e' in topics", "'n-_.~%9' in topics",
    ])
    func `a condition of the grammar is taken`(text: String) {
        #expect(ProviderTarget.condition(text).isValid)
    }

    @Test(arguments: [
        "", "a in topics", "\"a\" in topics", "'a' in topic", "'a'in topics", "'a' in topics ", " 'a' in topics",
        "'a' in topics && ", "'a' in topics&&'b' in topics", "'a' in topics and 'b' in topics", "!'a' in topics",
        "('a' in topics", "'a' in topics)", "'' in topics", "'a b' in topics", "'/topics/a' in topics", "()", "!()",
        "'a' in topics && 'b' in topics && 'c' in topics && 'd' in topics && 'e' in topics && 'f' in topics",
        String(repeating: "(", count: 21) + "'a' in topics" + String(repeating: ")", count: 21),
        "'" + String(repeating: "a", count: 901) + "' in topics",
    ])
    func `anything else is no condition`(text: String) {
        #expect(!ProviderTarget.condition(text).isValid)
    }

    @Test(
        arguments: [
            ("news", true), (String(repeating: "a", count: 900), true), ("a-_.~%9", true), ("", false),
            (String(repeating: "a", count: 901), false), ("/topics/news", false), ("a b", false), ("é", false),
        ]) func `a topic's name is held to its letters and length`(name: String, isValid: Bool)
    {
        #expect(ProviderTarget.topic(name).isValid == isValid)
    }

    @Test(
        arguments: [
            (#"{"topic":"news"}"#, []), (#"{"condition":"'a' in topics"}"#, []),
            (#"{"topic":"/topics/news"}"#, ["audience_invalid /audience/topic"]),
            (#"{"condition":"a"}"#, ["audience_invalid /audience/condition"]),
            (#"{"topic":7}"#, ["type_invalid /audience/topic"]),
            (
                #"{"topic":"news","tag":["a"]}"#,
                ["unknown_field /audience/topic"]
            ),
            (#"{"not":{"topic":"news"}}"#, ["audience_invalid /audience/not", "unknown_field /audience/not/topic"]),
        ] as [(String, [String])])
    func `a topic or condition is the whole audience or none of it`(audience: String, expected: [String]) {
        let file = #"{"app":"ferry","name":"T","message":{"silent":true},"audience":\#(audience)}"#
        var found: [String] = []
        do {
            let campaign = try CampaignFile.parse(Array(file.utf8), mode: .strict)
            #expect(campaign.audience == .all && campaign.target != nil)
        } catch { found = error.problems.map { "\($0.code) \($0.pointer)" } }
        #expect(found == expected)
    }

    @Test func `a message to a topic is held to half the bytes`() {
        let body = String(repeating: "é", count: 1000)
        let message = #"{"content":{"en":{"title":"T","body":"\#(body)"},"_default":"en"}}"#
        func codes(_ audience: String) -> [String] {
            let file = #"{"app":"ferry","name":"T","message":\#(message),"audience":\#(audience)}"#
            do {
                _ = try CampaignFile.parse(Array(file.utf8), mode: .strict, meter: DataMessageMeter())
                return []
            } catch { return error.problems.map(\.code) }
        }
        #expect(codes(#"{"all":true}"#) == [])
        #expect(codes(#"{"topic":"news"}"#) == ["payload_too_large"])
        // What an audience cannot be reached through does not bind it.
        let apple = #"{"and":[{"transport":["apns","fcm"]},{"not":{"transport":["fcm"]}}]}"#
        let long = message.replacing("\"T\"", with: "\"T\",\"url\":\"a://" + String(repeating: "x", count: 2000) + "\"")
        let file = #"{"app":"ferry","name":"T","message":\#(long),"audience":\#(apple)}"#
        #expect(throws: Never.self) {
            try CampaignFile.parse(Array(file.utf8), mode: .strict, meter: DataMessageMeter())
        }
    }

    @Test(arguments: [
        ("fid:dGhpcyBpcyBhIGZpZA", true), ("abc:APA91b", true), ("/topics/all", false),
        ("condition:'a' in topics", false),
    ])
    func `a subscriber may bring a token or an installation's id, no topic`(address: String, isTaken: Bool) throws {
        var reader = SubscriberImport(format: .jsonLines, check: SubscriberCheck(isPoint: { _ in true }))
        let line = #"{"external_id":"u1","transport":"fcm","address":"\#(address)"}"#
        reader.feed(Array(line.utf8))
        reader.finish()
        let item = try #require(try reader.next())
        let isSubscriber = if case .subscriber = item { true } else { false }
        #expect(isSubscriber == isTaken)
    }
}

import Testing

@testable import Domain

struct LimitTests {
    @Test(arguments: [
        ("3/24h", 3, 86_400), ("1000/31d", 1000, 2_678_400), ("1/1m", 1, 60), ("10/44640m", 10, 2_678_400),
    ])
    func `a cap is a count and a span`(text: String, most: Int, seconds: Int) {
        let cap = FrequencyCap(text)
        #expect(cap?.most == most && cap?.window == .seconds(seconds))
    }

    @Test(arguments: ["0/1h", "1001/1h", "1/0m", "1/32d", "1/99999d", "1/24", "1 / 24h", "-1/1h", "1/1w", "", "٣/24h"])
    func `anything else is no cap`(text: String) { #expect(FrequencyCap(text) == nil) }

    @Test(arguments: [
        ("22:00-08:00", true), ("00:00-23:59", true), ("8:00-09:00", false), ("24:00-08:00", false),
        ("22:00-22:00", false), ("22:00", false), ("22:00-08:00-09:00", false), ("22:60-08:00", false), ("-", false),
    ])
    func `quiet hours are two different times`(text: String, isValid: Bool) {
        #expect((QuietHours(text) != nil) == isValid)
    }

    @Test(arguments: [
        (#""quietHours":"skip""#, []), (#""quietHours":"defer""#, []),
        (#""quietHours":"never""#, ["delivery_invalid /delivery/quietHours"]),
        (#""bypass":{"rules":["frequency_cap","quiet_hours"],"reason":"gate change"}"#, []),
        (#""bypass":true"#, ["type_invalid /delivery/bypass"]),
        (
            #""bypass":{}"#,
            ["delivery_invalid /delivery/bypass/reason", "delivery_invalid /delivery/bypass/rules"]
        ),
        (
            #""bypass":{"rules":["all","quiet_hours","quiet_hours",1],"reason":" ","who":"me"}"#,
            [
                "delivery_invalid /delivery/bypass/reason", "delivery_invalid /delivery/bypass/rules/0",
                "delivery_invalid /delivery/bypass/rules/2", "type_invalid /delivery/bypass/rules/3",
                "unknown_field /delivery/bypass/who",
            ]
        ),
        (
            #""bypass":{"rules":"quiet_hours","reason":"\#(String(repeating: "é", count: 101))"}"#,
            ["delivery_invalid /delivery/bypass/reason", "type_invalid /delivery/bypass/rules"]
        ),
    ] as [(String, [String])])
    func `a campaign says what it does in quiet hours, and which rules it goes past and why`(
        member: String, expected: [String]
    ) throws {
        let json = """
            {"app":"ferry","name":"N","message":{"content":{"en":{"title":"T","body":"B"},"_default":"en"}},
            "audience":{"all":true},"schedule":{"at":"now"},"delivery":{\(member)}}
            """
        var problems: [Problem] = []
        do { _ = try CampaignFile.parse(Array(json.utf8), mode: .strict) } catch { problems = error.problems }
        #expect(problems.map { "\($0.code) \($0.pointer)" } == expected)
    }
}

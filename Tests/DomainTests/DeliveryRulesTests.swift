import Testing

@testable import Domain

struct DeliveryRulesTests {
    private func problems(delivery: String = "{}", overrides: String = "{}") -> [String] {
        let file = #"""
            {"app":"ferry","name":"T","message":{"silent":true,"overrides":\#(overrides)},"audience":{"all":true},
            "delivery":\#(delivery)}
            """#
        do {
            _ = try CampaignFile.parse(Array(file.utf8), mode: .strict)
            return []
        } catch { return error.problems.map { "\($0.code) \($0.pointer)" } }
    }

    @Test(
        arguments: [
            (#"{"fcmMode":"data","analyticsLabel":"winter-_.~%"}"#, []), (#"{"fcmMode":"notification"}"#, []),
            (#"{"fcmMode":"silent"}"#, ["delivery_invalid /delivery/fcmMode"]),
            (#"{"analyticsLabel":""}"#, ["delivery_invalid /delivery/analyticsLabel"]),
            (#"{"analyticsLabel":"a b"}"#, ["delivery_invalid /delivery/analyticsLabel"]),
            (#"{"analyticsLabel":7}"#, ["type_invalid /delivery/analyticsLabel"]),
        ] as [(String, [String])])
    func `FCM's options are held to what FCM takes`(delivery: String, expected: [String]) {
        #expect(problems(delivery: delivery) == expected)
    }

    @Test(
        arguments: [
            ("apns", #""apns-priority":"10""#, true), ("apns", #""apns-priority":"7""#, false),
            ("apns", #""apns-expiration":"0""#, true), ("apns", #""apns-expiration":"-1""#, false),
            ("apns", #""apns-push-type":"voip""#, true), ("apns", #""Apns-Push-Type":"ALERT""#, false),
            ("apns", #""apns-collapse-id":"""#, false), ("apns", #""apns-topic":"x""#, false),
            ("apns", #""APNS-ID":"x""#, false), ("webpush", #""TTL":"60""#, true),
            ("webpush", #""ttl":"2419201""#, false),
            ("webpush", #""Urgency":"very-low""#, true), ("webpush", #""Urgency":"HIGH""#, false),
            ("webpush", #""Topic":"a-_9""#, true), ("webpush", #""Topic":"a.b""#, false),
            ("webpush", #""Topic":"123456789012345678901234567890123""#, false),
            ("webpush", #""x-own":"anything""#, true), ("webpush", #""x-own":"a\r\nb: c""#, false),
            ("webpush", #""a b":"c""#, false), ("webpush", #""ttl":"1","TTL":"2""#, false),
            ("webpush", #""Authorization":"x""#, false), ("webpush", #""content-encoding":"x""#, false),
        ]) func `a header that a push service would refuse is refused before`(
            block: String, header: String, isValid: Bool
        )
    {
        let found = problems(overrides: #"{"\#(block)":{"headers":{\#(header)}}}"#)
        #expect(found.isEmpty == isValid, "\(found)")
        #expect(found.allSatisfy { $0.hasPrefix("override_invalid /message/overrides/\(block)/headers/") })
    }

    @Test func `overrides in camel case become the provider's fields, and maps stay as written`() throws {
        let message = try MessageReader.message(
            from: #"""
                {"silent":true,"overrides":{"android":{"directBootOk":true,"data":{"screenName":"x"},
                "notification":{"lightSettings":{"color":{"red":1},"lightOnDuration":"1s","light_off_duration":"2s"}}},
                "webpush":{"notification":{"requireInteraction":true}}}}
                """#)
        let snake = message.overrides.inSnakeCase
        #expect(
            snake.android?.text
                == #"{"data":{"screenName":"x"},"direct_boot_ok":true,"notification":{"light_settings":{"color":{"red":1},"light_off_duration":"2s","light_on_duration":"1s"}}}"#
        )
        #expect(snake.webpush?.text == #"{"notification":{"requireInteraction":true}}"#)
        #expect(snake.apns == nil)
    }

    @Test(
        arguments: [
            (AndroidChannel(id: "a", name: "A", importance: .low), []),
            (AndroidChannel(id: "a b", name: " ", importance: .low, sound: "a/b"), ["/id", "/name", "/sound"]),
            (
                AndroidChannel(
                    id: String(repeating: "a", count: 65), name: String(repeating: "👨‍👩‍👧‍👦", count: 64), importance: .none,
                    description: String(repeating: "x", count: 257)), ["/id", "/description"]
            ),
        ]) func `a channel's definition is held to its limits`(channel: AndroidChannel, expected: [String])
    {
        #expect(channel.problems.map(\.pointer) == expected)
    }

    @Test func `a channel reads back as it was written`() throws {
        let channel = AndroidChannel(
            id: "a", name: "Ä \"x\"", importance: .default, description: "d", sound: "s", vibration: true,
            lights: false,
            badge: true)
        #expect(try AndroidChannel.decode(channel.text) == channel)
        #expect(channel.essential.text == #"{"id":"a","importance":"default","name":"Ä \"x\""}"#)
    }

    @Test func `the longest values stand in for fallbacks that are shorter`() throws {
        let message = try MessageReader.message(
            from: #"""
                {"content":{"en":{"title":"{{a|x}} {{b|longer than that}}","body":"{{c}}","url":"s://{{a}}",
                "actions":[{"id":"i","title":"t","url":"{{link|s://y}}"}]},"_default":"en"}}
                """#)
        let filled = message.filled(with: ["a": "é é", "b": "short", "link": "https://é.example/"]).variants[0]
        #expect(filled.title.segments.first == .placeholder(name: "a", fallback: "é é"))
        #expect(filled.title.segments.last == .placeholder(name: "b", fallback: "longer than that"))
        #expect(filled.body == message.variants[0].body)
        #expect(filled.url?.segments.last == .placeholder(name: "a", fallback: "%C3%A9%20%C3%A9"))
        #expect(filled.actions[0].url?.segments == [.placeholder(name: "link", fallback: "https://é.example/")])
    }
}

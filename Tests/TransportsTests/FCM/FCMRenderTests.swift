import Domain
import Foundation
import Testing

@testable import Transports

@Suite struct FCMRenderTests {
    @Test(arguments: [
        (
            "en-IE", ["firstName": "Zoë", "gate": "B4", "tripRef": "88/A"], "en",
            #"""
            {"message":{"token":"t-1","android":{"priority":"high","ttl":"900s","collapse_key":"trip-88"},"data":{
            "id":"12-34","title":"Boarding opens soon ⛴️","body":"Zoë, gate B4 opens in 10 minutes.",
            "image":"https://img.ferry.example/gate/b.png","url":"ferry://trip/88%2FA",
            "actions":"[{\"id\":\"pass\",\"title\":\"Show pass\",\"url\":\"ferry://pass/88%2FA\"},{\"id\":\"mute\",\"title\":\"Mute this trip\"}]",
            "sound":"horn.caf","badge":"2","threadId":"trip-88","icon":"https://img.ferry.example/i/192.png",
            "channelId":"boarding","data":"{\"leg\":\"2\",\"screen\":\"trip\"}"}}}
            """#
        ),
        (
            "pt_br", [:], "pt-BR",
            #"""
            {"message":{"token":"t-1","android":{"priority":"high","ttl":"900s","collapse_key":"trip-88"},"data":{
            "id":"12-34","title":"Embarque em breve ⛴️","body":"Olá, o portão do balcão abre em 10 minutos.",
            "url":"ferry://trip/list","sound":"horn.caf","badge":"2","threadId":"trip-88",
            "icon":"https://img.ferry.example/i/192.png","channelId":"boarding",
            "data":"{\"leg\":\"2\",\"screen\":\"trip\"}"}}}
            """#
        ),
        (
            "fr", ["firstName": "  ", "gate": "7"], "en",
            #"""
            {"message":{"token":"t-1","android":{"priority":"high","ttl":"900s","collapse_key":"trip-88"},"data":{
            "id":"12-34","title":"Boarding opens soon ⛴️","body":"Hello, gate 7 opens in 10 minutes.",
            "image":"https://img.ferry.example/gate/b.png","url":"ferry://trip/list",
            "actions":"[{\"id\":\"pass\",\"title\":\"Show pass\",\"url\":\"ferry://pass/list\"},{\"id\":\"mute\",\"title\":\"Mute this trip\"}]",
            "sound":"horn.caf","badge":"2","threadId":"trip-88","icon":"https://img.ferry.example/i/192.png",
            "channelId":"boarding","data":"{\"leg\":\"2\",\"screen\":\"trip\"}"}}}
            """#
        ),
    ])
    func `the worked example is rendered`(
        language: String, attributes: [String: String], served: String, expected: String
    ) throws {
        let content = ContentVersion.boarding
        let rendered = try Rendering(content, language: language, attributes: attributes)
        #expect(rendered.refusal == nil)
        #expect(rendered.language == served)
        #expect(try json(rendered.bytes) == json(Array(expected.utf8)))
    }

    @Test func `a silent message is its data and nothing else`() throws {
        let message = Message(
            variants: [], defaultVariant: 0, presentation: Presentation(sound: "horn.caf", badge: 3),
            data: [.init(key: "scope", value: "timetable"), .init(key: "op", value: "refresh")], silent: true)
        let content = ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions())
        let rendered = try Rendering(content, language: "en", attributes: [:])
        #expect(rendered.language == nil)
        #expect(
            String(decoding: rendered.bytes, as: UTF8.self) == #"""
                {"message":{"android":{"priority":"normal","ttl":"900s"},"data":{\#
                "data":"{\"op\":\"refresh\",\"scope\":\"timetable\"}","id":"12-34","silent":"1"},"token":"t-1"}}
                """#)
    }

    @Test func `the body is compact and its data sorted by key`() throws {
        let rendered = try Rendering(.boarding, language: "en", attributes: [:])
        let text = String(decoding: rendered.bytes, as: UTF8.self)
        #expect(!text.contains("\": ") && !text.contains(", \""))
        let keys = [
            "actions", "badge", "body", "channelId", "data", "icon", "id", "image", "sound", "threadId", "title", "url",
        ]
        let places = keys.compactMap { text.range(of: "\"\($0)\":\"")?.lowerBound }
        #expect(places.count == keys.count)
        #expect(places == places.sorted())
    }

    @Test(
        arguments: [
            (nil, nil, false, "high"), (nil, .passive, false, "normal"), (nil, .critical, false, "high"),
            (.high, .passive, false, "high"), (.normal, nil, false, "normal"), (nil, nil, true, "normal"),
            (.high, nil, true, "high"),
        ] as [(DeliveryOptions.Priority?, Presentation.InterruptionLevel?, Bool, String)])
    func `priority is the author's, else by what is shown`(
        explicit: DeliveryOptions.Priority?, level: Presentation.InterruptionLevel?, silent: Bool, expected: String
    ) throws {
        var message = ContentVersion.boarding.message
        message.presentation.interruptionLevel = level
        message.silent = silent
        let content = ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions(priority: explicit))
        let rendered = try Rendering(content, language: "en", attributes: [:])
        let android = try #require(try json(rendered.bytes)["message"] as? NSDictionary)["android"]
        #expect(android as? NSDictionary == ["priority": expected, "ttl": "900s"])
    }

    /// Everything that JSON has to escape, in every place that takes text.
    @Test(arguments: [
        #"say "hi" \ back"#, "line\nbreak\ttab\r\u{8}\u{C}", "\u{1}\u{1F}\u{7F}", "a\u{2028}\u{2029}", "</script>",
        "日本語 👨‍👩‍👧‍👦",
        #"\"}],{"x":"#, #"{{name}}"#, #"\u0041"#,
    ])
    func `text of any kind comes back as it was`(nasty: String) throws {
        let variant = Variant(
            language: "en", title: template("T {{a|\(nasty.replacing("}}", with: ""))}} {{b}}"),
            body: template("{{a}}"),
            image: nil, url: template("ferry://x?y={{a}}&z={{b|none}}"),
            actions: [
                .init(id: "one", title: nasty, url: template("ferry://{{a}}")), .init(id: "two", title: "2", url: nil),
            ])
        let message = Message(
            variants: [variant], defaultVariant: 0, presentation: Presentation(threadId: nasty),
            data: [.init(key: "k\"\\", value: nasty)], silent: false)
        let content = ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions(collapseKey: nasty))
        let rendered = try Rendering(content, language: "en", attributes: ["a": nasty], token: nasty)
        #expect(rendered.refusal == nil)
        let root = try #require(try json(rendered.bytes)["message"] as? NSDictionary)
        #expect(root["token"] as? String == nasty)
        #expect((root["android"] as? NSDictionary)?["collapse_key"] as? String == nasty)
        let data = try #require(root["data"] as? [String: String])
        #expect(data["title"] == "T \(nasty) ")
        #expect(data["body"] == nasty)
        #expect(data["threadId"] == nasty)
        let encoded = try #require(nasty.addingPercentEncoding(withAllowedCharacters: .unreserved))
        #expect(data["url"] == "ferry://x?y=\(encoded)&z=none")
        #expect(try json(Array(#require(data["data"]).utf8)) == ["k\"\\": nasty])
        let actions =
            try JSONSerialization.jsonObject(with: Data(#require(data["actions"]).utf8)) as? [[String: String]]
        #expect(actions?.first == ["id": "one", "title": nasty, "url": "ferry://\(encoded)"])
        #expect(actions?.last == ["id": "two", "title": "2"])
    }

    @Test func `a whole address from a subscriber is inserted as it is, within buttons too`() throws {
        let link = #"https://shop.example/a?b="c"&d=\e"#
        let variant = Variant(
            language: "en", title: template("t"), body: template("b"), image: nil, url: template("{{link}}"),
            actions: [.init(id: "one", title: "1", url: template("{{link}}"))])
        let content = ContentVersion(id: .init(1), variant)
        let rendered = try Rendering(content, language: nil, attributes: ["link": link])
        #expect(rendered.refusal == nil)
        let data = try #require((json(rendered.bytes)["message"] as? NSDictionary)?["data"] as? [String: String])
        #expect(data["url"] == link)
        let actions =
            try JSONSerialization.jsonObject(with: Data(#require(data["actions"]).utf8)) as? [[String: String]]
        #expect(actions?.first?["url"] == link)
    }

    @Test(
        arguments: [
            ("{{a}}", "b", nil, ["a": " "], .renderedEmpty), ("{{a}}", "b", nil, ["a": "x"], nil),
            ("t", "{{a}} {{b}}", nil, [:], .renderedEmpty),
            ("t", "b", "{{a}}", ["a": "no address"], .renderedURLInvalid),
            ("t", "b", "{{a}}", ["a": "javascript:alert(1)"], .renderedURLInvalid),
            ("t", "b", "{{a}}", [:], .renderedURLInvalid),
            ("t", "b", "{{a}}", ["a": "https://ok.example"], nil),
            ("t", "b", "ferry://{{a}}", ["a": String(repeating: "x", count: 2048)], .renderedURLInvalid),
        ] as [(String, String, String?, [String: String], Reason?)])
    func `what must not go out is refused by its reason`(
        title: String, body: String, url: String?, attributes: [String: String], reason: Reason?
    ) throws {
        let variant = Variant(
            language: "en", title: template(title), body: template(body), image: nil, url: url.map { template($0) },
            actions: [])
        let rendered = try Rendering(ContentVersion(id: .init(1), variant), language: "en", attributes: attributes)
        #expect(rendered.refusal == reason)
    }

    /// The data object of this message weighs 36 bytes more than its body.
    @Test(arguments: [(4060, nil), (4061, .payloadTooLarge)] as [(Int, Reason?)])
    func `data may weigh 4096 bytes and not one more`(length: Int, reason: Reason?) throws {
        let variant = Variant(
            language: "en", title: template("t"), body: template("{{a}}"), image: nil, url: nil, actions: [])
        let value = String(repeating: "x", count: length)
        let rendered = try Rendering(ContentVersion(id: .init(1), variant), language: "en", attributes: ["a": value])
        #expect(rendered.refusal == reason)
        if reason == nil {
            let data = try #require((json(rendered.bytes)["message"] as? NSDictionary)?["data"])
            #expect(try JSONSerialization.data(withJSONObject: data).count == 4096)
        }
    }

    @Test(arguments: [0, 1, 9, 10, 2_419_200, Int64.max]) func `what is left of the life is written in seconds`(
        seconds: Int64
    ) throws {
        let rendered = try Rendering(.boarding, language: "en", attributes: [:], remaining: seconds)
        let android = try #require(json(rendered.bytes)["message"] as? NSDictionary)["android"] as? NSDictionary
        #expect(android?["ttl"] as? String == "\(seconds)s")
    }

    @Test(arguments: [(1, 0), (Int64.max, Int64.max), (42, 9_999_999)]) func `the id is the job's own`(
        run: Int64, number: Int64
    ) throws {
        let identity = JobIdentity(run: .init(run), number: number)
        let rendered = try Rendering(.boarding, language: "en", attributes: [:], identity: identity)
        let data = try #require((json(rendered.bytes)["message"] as? NSDictionary)?["data"] as? [String: String])
        #expect(data["id"] == identity.text)
    }
}

import Crypto
import Domain
import Foundation
import HTTP2
import Testing

@testable import Transports

/// One job as APNs gets it.
struct APNsRendered {
    let body: [UInt8]
    let refusal: Answer?
    let headers: [String: String]
    let path: String
    let environment: PushEnvironment?
    let message: APNsPreparedMessage

    init(
        _ content: ContentVersion, language: String? = "en", attributes: [String: String] = [:],
        address: Address = Address(text: String(repeating: "ab", count: 32)),
        identity: JobIdentity = JobIdentity(run: .init(12), number: 34), remaining: Int64 = 900,
        scope: APNsKey.Scope = .both
    ) {
        message = APNsMessageCompiler(content).compile()
        let job = OutgoingJob(
            ticket: Ticket(batch: 1, ordinal: 2), identity: identity, address: address, language: language,
            values: content.placeholderNames.map { attributes[$0] }, remainingSeconds: remaining)
        let rendering = APNsRendering(
            [job], of: message, scope: scope, now: Instant(microseconds: 1_774_000_000_999_999))
        let request = rendering.production.first ?? rendering.sandbox.first
        body = request?.body ?? []
        path = String(decoding: request?.path ?? [], as: UTF8.self)
        environment = request == nil ? nil : rendering.production.isEmpty ? .sandbox : .production
        if case .answered(let answer)? = rendering.refused.first?.fate { refusal = answer } else { refusal = nil }
        var headers: [String: String] = [:]
        for field in request?.fields ?? [] { headers["\(field.name)"] = String(decoding: field.value, as: UTF8.self) }
        headers["apns-push-type"] = message.pushType.rawValue
        headers["apns-priority"] = message.priority
        self.headers = headers
    }

    var aps: NSDictionary { get throws { try #require(try json(body)["aps"] as? NSDictionary) } }
    var text: String { String(decoding: body, as: UTF8.self) }
}

@Suite struct APNsRenderTests {
    private func content(
        _ change: (inout Message) -> Void = { _ in }, delivery: DeliveryOptions = DeliveryOptions(ttlSeconds: 900)
    ) -> ContentVersion {
        var message = ContentVersion.boarding.message
        change(&message)
        return ContentVersion(id: .init(1), message: message, delivery: delivery)
    }

    private static let silent = Message(
        variants: [], defaultVariant: 0,
        presentation: Presentation(sound: "horn.caf", badge: 3, threadId: "t", interruptionLevel: .critical),
        data: [.init(key: "scope", value: "timetable"), .init(key: "op", value: "refresh")], silent: true)

    @Test func `the worked example is rendered, compact and sorted`() {
        let rendered = APNsRendered(
            .boarding, language: "en-IE", attributes: ["firstName": "Zoë", "gate": "B4", "tripRef": "88/A"])
        #expect(
            rendered.text == #"""
                {"actions":[{"id":"pass","title":"Show pass","url":"ferry://pass/88%2FA"},{"id":"mute",\#
                "title":"Mute this trip"}],"aps":{"alert":{"body":"Zoë, gate B4 opens in 10 minutes.",\#
                "title":"Boarding opens soon ⛴️"},"badge":2,"interruption-level":"time-sensitive",\#
                "mutable-content":1,"relevance-score":0.8,"sound":"horn.caf","thread-id":"trip-88"},\#
                "data":{"leg":"2","screen":"trip"},"id":"12-34","image":"https://img.ferry.example/gate/b.png",\#
                "url":"ferry://trip/88%2FA"}
                """#)
        #expect(
            rendered.headers == [
                "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1774000900",
                "apns-collapse-id": "trip-88", "apns-id": APNsRendering.apnsID(of: "12-34"),
            ])
        #expect(rendered.path == "/3/device/" + String(repeating: "ab", count: 32))
    }

    @Test func `another language without picture and buttons needs no service extension`() throws {
        let rendered = APNsRendered(.boarding, language: "pt_br")
        #expect(try rendered.aps["mutable-content"] == nil)
        #expect(try json(rendered.body)["image"] == nil)
        #expect(try json(rendered.body)["actions"] == nil)
        #expect(try json(rendered.body)["url"] as? String == "ferry://trip/list")
    }

    @Test func `a silent message is content-available, its id and its data, whatever else was set`() {
        let delivery = DeliveryOptions(ttlSeconds: 900, priority: .high)
        let rendered = APNsRendered(ContentVersion(id: .init(1), message: Self.silent, delivery: delivery))
        #expect(
            rendered.text
                == #"{"aps":{"content-available":1},"data":{"op":"refresh","scope":"timetable"},"id":"12-34"}"#)
        #expect(rendered.headers["apns-push-type"] == "background")
        #expect(rendered.headers["apns-priority"] == "5", "Apple refuses any other for a background push")
    }

    @Test(
        arguments: [
            (nil, nil, #""default""#), ("default", nil, #""default""#), ("none", nil, nil),
            ("horn.caf", nil, #""horn.caf""#),
            ("horn.caf", .critical, #"{"critical":1,"name":"horn.caf","volume":1}"#),
            (nil, .critical, #"{"critical":1,"name":"default","volume":1}"#), ("none", .critical, nil),
        ] as [(String?, Presentation.InterruptionLevel?, String?)])
    func `sound is the author's, default when not set, and a dictionary for critical alerts`(
        sound: String?, level: Presentation.InterruptionLevel?, expected: String?
    ) {
        let rendered = APNsRendered(
            content { $0.presentation = Presentation(sound: sound, interruptionLevel: level) })
        if let expected { #expect(rendered.text.contains(#""sound":\#(expected)"#)) }
        if expected == nil { #expect(!rendered.text.contains("sound")) }
    }

    @Test(
        arguments: [(nil, nil), (.active, nil), (.passive, "passive"), (.critical, "critical")]
            as [(Presentation.InterruptionLevel?, String?)])
    func `the interruption level is written unless it is Apple's default`(
        level: Presentation.InterruptionLevel?, expected: String?
    ) throws {
        let rendered = APNsRendered(content { $0.presentation.interruptionLevel = level })
        #expect(try rendered.aps["interruption-level"] as? String == expected)
    }

    @Test(
        arguments: [
            (nil, nil, "10"), (nil, .passive, "5"), (.high, .passive, "10"), (.normal, nil, "5"),
            (nil, .critical, "10"),
        ] as [(DeliveryOptions.Priority?, Presentation.InterruptionLevel?, String)])
    func `priority is the author's, else by what is shown`(
        explicit: DeliveryOptions.Priority?, level: Presentation.InterruptionLevel?, expected: String
    ) {
        let rendered = APNsRendered(
            content({ $0.presentation.interruptionLevel = level }, delivery: DeliveryOptions(priority: explicit)))
        #expect(rendered.headers["apns-priority"] == expected)
    }

    @Test(arguments: [(nil, 900, "1774000900"), (900, 1, "1774000001"), (900, 0, "0"), (0, 0, "0"), (0, 900, "0")])
    func `expiration is an instant that counts what is left, and 0 for one attempt`(
        ttl: Int?, remaining: Int64, expected: String
    ) {
        let rendered = APNsRendered(content(delivery: DeliveryOptions(ttlSeconds: ttl)), remaining: remaining)
        #expect(rendered.headers["apns-expiration"] == expected)
    }

    @Test func `without a collapse key a repeat replaces itself`() {
        #expect(APNsRendered(content()).headers["apns-collapse-id"] == "12-34")
        let longest = JobIdentity(run: .init(.max), number: .max)
        #expect((APNsRendered(content(), identity: longest).headers["apns-collapse-id"]?.utf8.count ?? 65) <= 64)
    }

    /// As Python has it: `uuid.uuid5(namespace, "12-34")`.
    @Test func `apns-id is the same canonical UUID for the same job, for ever`() throws {
        let first = try #require(APNsRendered(content()).headers["apns-id"])
        #expect(first.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(APNsRendered(content(), language: "pt-BR").headers["apns-id"] == first)
        let other = APNsRendered(content(), identity: JobIdentity(run: .init(12), number: 35))
        #expect(other.headers["apns-id"] != first)
        #expect(first == "539adaa0-78d9-5837-8918-eb6005237d2c")
    }

    @Test(
        arguments: [
            (APNsKey.Scope.both, PushEnvironment.unknown, PushEnvironment.production),
            (.both, .production, .production),
            (.both, .sandbox, .sandbox), (.production, .unknown, .production), (.sandbox, .unknown, .sandbox),
            (.sandbox, .sandbox, .sandbox), (.sandbox, .production, nil), (.production, .sandbox, nil),
        ] as [(APNsKey.Scope, PushEnvironment, PushEnvironment?)])
    func `each address goes to its own environment, as far as the key reaches`(
        scope: APNsKey.Scope, environment: PushEnvironment, expected: PushEnvironment?
    ) {
        let address = Address(text: String(repeating: "ab", count: 32), environment: environment)
        let rendered = APNsRendered(content(), address: address, scope: scope)
        #expect(rendered.environment == expected)
        #expect(rendered.refusal == (expected == nil ? .wrongProject(.apnsBadEnvironmentKeyID) : nil))
    }

    @Test(
        arguments: [
            (String(repeating: "AB", count: 16), String(repeating: "ab", count: 16)),
            (String(repeating: "0f", count: 256), String(repeating: "0f", count: 256)),
            (String(repeating: "a", count: 33), nil), (String(repeating: "ab", count: 15), nil),
            (String(repeating: "ab", count: 257), nil), ("", nil),
            ("../../admin/reset" + String(repeating: "a", count: 47), nil),
            (String(repeating: "é", count: 32), nil), (String(repeating: "g0", count: 32), nil),
        ] as [(String, String?)])
    func `only a device token in lower case stands in a path`(token: String, expected: String?) {
        let rendered = APNsRendered(content(), address: Address(text: token))
        #expect(rendered.path == expected.map { "/3/device/\($0)" } ?? "")
        #expect(rendered.refusal == (expected == nil ? .refused(.apnsBadDeviceToken) : nil))
    }

    // MARK: Overrides

    private func overridden(_ payload: String, headers: String = "{}", silent: Bool = false) throws -> APNsRendered {
        let block = try JSONDecoder().decode(
            JSONValue.self, from: Data(#"{"headers":\#(headers),"payload":\#(payload)}"#.utf8))
        if silent {
            var message = Self.silent
            message.overrides.apns = block
            return APNsRendered(ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions()))
        }
        return APNsRendered(content { $0.overrides.apns = block })
    }

    @Test func `overrides are laid over what the content gives, member by member`() throws {
        let rendered = try overridden(
            #"""
            {"aps":{"alert":{"subtitle":"Pier 4"},"category":"GATE","badge":9,"thread-id":"other"},
            "extra":{"a":[1,{"b":null}]},"data":{"leg":"3"}}
            """#)
        let aps = try rendered.aps
        let alert = try #require(aps["alert"] as? NSDictionary)
        #expect(alert["subtitle"] as? String == "Pier 4")
        #expect(alert["title"] as? String == "Boarding opens soon ⛴️")
        #expect(aps["category"] as? String == "GATE")
        #expect(aps["badge"] as? Int == 9)
        #expect(aps["thread-id"] as? String == "other")
        #expect(aps["sound"] as? String == "horn.caf")
        #expect(rendered.text.contains(#""extra":{"a":[1,{"b":null}]}"#))
        #expect(try json(rendered.body)["data"] as? [String: String] == ["leg": "3", "screen": "trip"])
    }

    @Test func `the job's id cannot be overridden`() throws {
        #expect(try json(overridden(#"{"id":"mine"}"#).body)["id"] as? String == "12-34")
    }

    @Test func `a background push stays one, whatever an override says`() throws {
        let rendered = try overridden(
            #"{"aps":{"alert":"x","sound":"default"},"extra":1}"#,
            headers: #"{"apns-priority":"10","apns-push-type":"alert"}"#, silent: true)
        #expect(try rendered.aps == ["content-available": 1])
        #expect(try json(rendered.body)["extra"] as? Int == 1)
        #expect(rendered.headers["apns-priority"] == "5")
        #expect(rendered.headers["apns-push-type"] == "background")
    }

    @Test func `headers of an override win, but for those that would break the job's identity`() throws {
        let rendered = try overridden(
            "{}",
            headers: #"""
                {"apns-priority":"1","APNS-Expiration":"1999999999","apns-collapse-id":"k","apns-id":"x",
                "apns-push-type":"liveactivity","apns-topic":"other"}
                """#)
        #expect(rendered.headers["apns-priority"] == "1")
        #expect(rendered.headers["apns-expiration"] == "1999999999")
        #expect(rendered.headers["apns-collapse-id"] == "k")
        #expect(rendered.headers["apns-id"] == APNsRendering.apnsID(of: "12-34"))
        #expect(rendered.message.pushType.topicSuffix == ".push-type.liveactivity")
    }

    // MARK: Text and size

    @Test(arguments: [
        #"say "hi" \ back"#, "line\nbreak\ttab\r\u{8}\u{C}", "\u{1}\u{1F}\u{7F}", "a\u{2028}\u{2029}", "</script>",
        "日本語 👨‍👩‍👧‍👦", #"\"}],{"x":"#, #"{{name}}"#, #"\u0041"#,
    ])
    func `text of any kind comes back as it was`(nasty: String) throws {
        let variant = Variant(
            language: "en", title: template("T {{a}}"), body: template("{{a}}"), image: nil,
            url: template("ferry://x?y={{a}}"),
            actions: [.init(id: "one", title: nasty, url: template("ferry://{{a}}"))])
        let message = Message(
            variants: [variant], defaultVariant: 0, presentation: Presentation(threadId: nasty),
            data: [.init(key: "k\"\\", value: nasty)], silent: false)
        let rendered = APNsRendered(
            ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions()), attributes: ["a": nasty])
        let alert = try #require(try rendered.aps["alert"] as? [String: String])
        #expect(alert == ["title": "T \(nasty)", "body": nasty])
        #expect(try rendered.aps["thread-id"] as? String == nasty)
        let root = try json(rendered.body)
        #expect(root["data"] as? [String: String] == ["k\"\\": nasty])
        let encoded = try #require(nasty.addingPercentEncoding(withAllowedCharacters: .unreserved))
        #expect(root["url"] as? String == "ferry://x?y=\(encoded)")
        #expect(root["actions"] as? [[String: String]] == [["id": "one", "title": nasty, "url": "ferry://\(encoded)"]])
    }

    @Test(arguments: [(0, nil), (1, .refused(.payloadTooLarge))] as [(Int, Answer?)])
    func `a body may weigh 4096 bytes and not one more`(excess: Int, refusal: Answer?) {
        let variant = Variant(
            language: "en", title: template("t"), body: template("{{a|x}}"), image: nil, url: nil, actions: [])
        let content = ContentVersion(id: .init(1), variant)
        let rest = APNsRendered(content).body.count - 1
        let value = String(repeating: "x", count: 4096 - rest + excess)
        let rendered = APNsRendered(content, attributes: ["a": value])
        #expect(rendered.refusal == refusal)
        if excess == 0 { #expect(rendered.body.count == 4096) }
    }

    @Test(
        arguments: [
            ("{{a}}", nil, ["a": " "], .renderedEmpty),
            ("t", "{{a}}", ["a": "javascript:alert(1)"], .renderedURLInvalid),
        ] as [(String, String?, [String: String], Reason)])
    func `what must not go out is refused by its reason`(
        title: String, url: String?, attributes: [String: String], reason: Reason
    ) {
        let variant = Variant(
            language: "en", title: template(title), body: template("b"), image: nil, url: url.map { template($0) },
            actions: [])
        #expect(
            APNsRendered(ContentVersion(id: .init(1), variant), attributes: attributes).refusal == .refused(reason))
    }

    @Test func `the meter weighs each language as it is sent with the longest id`() {
        let longest = JobIdentity(run: .init(.max), number: .max)
        let sizes = APNsMessageMeter().sizes(
            of: ContentVersion.boarding.message, delivery: ContentVersion.boarding.delivery)
        #expect(sizes.map(\.language) == ["en", "pt-BR"])
        for size in sizes {
            #expect(size.bytes == APNsRendered(.boarding, language: size.language, identity: longest).body.count)
            #expect(size.limit == 4096)
            #expect(size.transport == .apns)
        }
        let silent = APNsMessageMeter().sizes(of: Self.silent, delivery: DeliveryOptions())
        #expect(silent.map(\.language) == [nil])
    }
}

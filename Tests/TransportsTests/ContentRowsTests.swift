import Domain
import Foundation
import Testing

@testable import Transports

/// Rows of the content model that APNs and Web Push share, by the renderers' faces.
@Suite struct ContentRowsTests {
    private func preview(
        _ face: any MessagePreview, _ content: ContentVersion, language: String? = "en",
        attributes: [String: String] = [:]
    ) throws -> RequestPreview {
        let address =
            face.transport == .apns
            ? Address(text: String(repeating: "ab", count: 32), environment: .production)
            : try FakePushService.address("https://push.example/a")
        return try #require(
            try face.preview(
                of: content,
                for: PreviewRecipient(
                    identity: JobIdentity(run: .init(12), number: 34), address: address, language: language,
                    attributes: attributes, remainingSeconds: 900, now: 1_774_000_000)))
    }

    private func apns(_ content: ContentVersion, _ attributes: [String: String] = [:]) throws -> RequestPreview {
        try preview(APNsMessagePreview(topic: "a.b"), content, attributes: attributes)
    }

    private func webPush(_ content: ContentVersion, _ attributes: [String: String] = [:]) throws -> RequestPreview {
        try preview(WebPushMessagePreview(), content, attributes: attributes)
    }

    private func variant(
        title: String = "T", body: String = "B", url: String? = nil, actions: [Variant.Action] = []
    ) -> Variant {
        Variant(
            language: "en", title: template(title), body: template(body), image: nil, url: url.map { template($0) },
            actions: actions)
    }

    private func content(_ presentation: Presentation) -> ContentVersion {
        ContentVersion(
            id: .init(1),
            message: Message(
                variants: [variant()], defaultVariant: 0, presentation: presentation, data: [], silent: false),
            delivery: DeliveryOptions())
    }

    @Test func `what is absent or empty is left out (§11.1, §11.4)`() throws {
        let plain = ContentVersion(id: .init(1), variant())
        #expect(
            try apns(plain).body
                == #"{"aps":{"alert":{"body":"B","title":"T"},"sound":"default"},"id":"12-34"}"#)
        #expect(
            try webPush(plain).body == #"{"body":"B","id":"12-34","lang":"en","tag":"12-34","title":"T"}"#)
    }

    @Test(arguments: [0, 1, 99_999]) func `a badge is a number, zero too (§5)`(badge: Int) throws {
        let content = content(Presentation(badge: badge))
        #expect(try apns(content).body.contains(#""badge":\#(badge),"#))
        #expect(try webPush(content).body.contains(#""badgeCount":\#(badge),"#))
    }

    @Test(arguments: [0, 0.25, 1]) func `a relevance score is a number from 0 to 1, for Apple alone (§5)`(
        score: Double
    ) throws {
        let content = content(Presentation(relevanceScore: score))
        let aps = try json(Array(apns(content).body.utf8))["aps"] as? NSDictionary
        #expect(aps?["relevance-score"] as? Double == score)
        #expect(try !webPush(content).body.contains("relevance"))
    }

    @Test func `what a platform cannot show is dropped (§5)`() throws {
        let content = content(
            Presentation(
                threadId: "t", icon: "https://img.example/i.png", interruptionLevel: .timeSensitive,
                channelId: "boarding"))
        let apple = try apns(content).body
        #expect(!apple.contains("icon") && !apple.contains("channel") && apple.contains(#""thread-id":"t""#))
        let web = try webPush(content).body
        #expect(!web.contains("interruption") && !web.contains("channel") && web.contains(#""icon":"https:"#))
        #expect(web.contains(#""tag":"12-34""#))
    }

    @Test(arguments: [.apns, .webpush] as [TransportKind])
    func `fields are not mixed between languages (§2)`(transport: TransportKind) throws {
        let face: any MessagePreview = transport == .apns ? APNsMessagePreview(topic: "a.b") : WebPushMessagePreview()
        let portuguese = try preview(face, .boarding, language: "pt_PT")
        #expect(portuguese.language == "en")
        let brazilian = try preview(face, .boarding, language: "pt_br", attributes: ["firstName": "Zoë"])
        #expect(brazilian.language == "pt-BR")
        #expect(brazilian.body.contains("Zoë, o portão do balcão abre em 10 minutos."))
        #expect(!brazilian.body.contains("image") && !brazilian.body.contains("actions"))
    }

    @Test(arguments: [
        ("88/A", "ferry://trip/88%2FA"), (" ", "ferry://trip/list"), ("é\"", "ferry://trip/%C3%A9%22"),
    ])
    func `a value within a link is percent-encoded, in a button's too (§4)`(value: String, link: String) throws {
        let url = "ferry://trip/{{ref|list}}"
        let content = ContentVersion(
            id: .init(1),
            variant(url: url, actions: [.init(id: "a", title: "A", url: template(url))]))
        for body in [try apns(content, ["ref": value]).body, try webPush(content, ["ref": value]).body] {
            #expect(body.components(separatedBy: #""url":"\#(link)""#).count == 3)
        }
    }

    @Test(
        arguments: [
            ("{{a}}", "B", nil, "a", " ", .renderedEmpty), ("T", "{{a}}", nil, "b", "x", .renderedEmpty),
            ("T", "B", "{{a}}", "a", "javascript:alert(1)", .renderedURLInvalid),
            ("T", "B", "{{a}}", "a", "https://ferry.example/x", nil),
            ("T", "{{a}}", nil, "a", String(repeating: "x", count: 4096), .payloadTooLarge),
        ] as [(String, String, String?, String, String, Reason?)])
    func `what must not go out is refused by its reason, on each (§4)`(
        title: String, body: String, url: String?, name: String, value: String, reason: Reason?
    ) throws {
        let content = ContentVersion(id: .init(1), variant(title: title, body: body, url: url))
        #expect(try apns(content, [name: value]).refusal == reason)
        #expect(try webPush(content, [name: value]).refusal == reason)
    }

    @Test(arguments: [
        #"say "hi" \ back"#, "line\nbreak\ttab\r\u{8}\u{C}", "\u{1}\u{1F}\u{7F}", "a\u{2028}\u{2029}", "</script>",
        "日本語 👨‍👩‍👧‍👦", #"\"}],{"x":"#, #"{{name}}"#, #"\u0041"#,
    ])
    func `a browser reads a subscriber's value as it is, whatever it holds (§9)`(value: String) throws {
        let preview = try webPush(
            ContentVersion(id: .init(1), variant(title: value.contains("{{") ? "T" : value, body: "{{a}}")),
            ["a": value])
        let read = try json(Array(preview.body.utf8))
        #expect(read["body"] as? String == value)
        #expect(read.count == 5)
    }

    @Test(arguments: [0, 1, 900, 2_419_200, 9_999_999] as [Int64])
    func `what is left of the life is an instant for Apple and seconds for browsers (§11.5)`(left: Int64) throws {
        func value(_ name: String, _ face: any MessagePreview, _ address: Address) throws -> String? {
            let recipient = PreviewRecipient(
                identity: JobIdentity(run: .init(12), number: 34), address: address, language: "en", attributes: [:],
                remainingSeconds: left, now: 1_774_000_000)
            return try face.preview(of: .boarding, for: recipient)?.headers.first { $0.name == name }?.value
        }
        let apple = try value(
            "apns-expiration", APNsMessagePreview(topic: "a.b"), Address(text: String(repeating: "ab", count: 32)))
        #expect(apple == (left == 0 ? "0" : String(1_774_000_000 + left)))
        let browser = try value("ttl", WebPushMessagePreview(), FakePushService.address("https://push.example/a"))
        // No push service keeps anything for longer than four weeks.
        #expect(browser == String(min(left, 2_419_200)))
    }
}

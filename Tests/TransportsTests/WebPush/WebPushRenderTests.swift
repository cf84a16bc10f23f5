import Domain
import Foundation
import Testing

@testable import Transports

@Suite struct WebPushRenderTests {
    private struct Rendered {
        let text: String
        let refusal: Reason?
        let headers: WebPushPreparedMessage.Headers
    }

    private func render(
        _ content: ContentVersion, _ attributes: [String: String] = [:], language: String? = "en",
        options: (inout WebPushOptions) -> Void = { _ in }
    ) -> Rendered {
        var chosen = WebPushOptions()
        options(&chosen)
        let prepared = WebPushMessageCompiler(content, options: chosen).compile()
        var job = OutgoingJob.web(1)
        job.values = content.placeholderNames.map { attributes[$0] }
        var bytes: [UInt8] = []
        let refusal = prepared.append(job, body: prepared.body(for: language), to: &bytes)
        return Rendered(text: String(decoding: bytes, as: UTF8.self), refusal: refusal, headers: prepared.headers)
    }

    private let zoë = ["firstName": "Zoë", "gate": "B4", "tripRef": "88/A"]

    @Test func `the content model's worked example comes out, keys sorted`() {
        let rendered = render(.boarding, zoë, language: "en-IE")
        #expect(
            rendered.text == """
                {"actions":[{"action":"pass","title":"Show pass","url":"ferry://pass/88%2FA"},\
                {"action":"mute","title":"Mute this trip"}],"badgeCount":2,\
                "body":"Zoë, gate B4 opens in 10 minutes.","data":{"leg":"2","screen":"trip"},\
                "icon":"https://img.ferry.example/i/192.png","id":"12-1",\
                "image":"https://img.ferry.example/gate/b.png","lang":"en","tag":"trip-88",\
                "title":"Boarding opens soon ⛴️","url":"ferry://trip/88%2FA"}
                """)
        #expect(rendered.text.utf8.count == 425 + "12-1".utf8.count - "01JD7Q4T9M2ZC8V5".utf8.count)
        #expect(rendered.headers.urgency == .high)
        #expect(rendered.headers.topic == Array("trip-88".utf8))
    }

    @Test func `a language is written as BCP 47 writes it`() {
        for (key, spelling) in [
            ("pt_br", "pt-BR"), ("zh-hant-tw", "zh-Hant-TW"), ("EN", "en"), ("es-419", "es-419"),
            ("de-1996", "de-1996"), ("en-x-ab", "en-x-ab"),
        ] {
            #expect(LanguageSpelling.bcp47(key) == spelling)
        }
    }

    @Test func `without a collapse key the job's id is the tag, or the thread where the app asks for it`() {
        var content = ContentVersion.boarding
        content = ContentVersion(id: content.id, message: content.message, delivery: DeliveryOptions())
        #expect(render(content, zoë).text.contains(#""tag":"12-1""#))
        #expect(render(content, zoë).headers.topic == nil)
        #expect(render(content, zoë) { $0.tagsByThread = true }.text.contains(#""tag":"trip-88""#))
        #expect(render(.boarding, zoë) { $0.tagsByThread = true }.text.contains(#""tag":"trip-88""#))
    }

    @Test func `no sound is silence, and any other the browser's own`() {
        #expect(!render(.boarding, zoë).text.contains("silent"))
        var message = ContentVersion.boarding.message
        message.presentation.sound = "none"
        let quiet = ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions())
        #expect(render(quiet, zoë).text.contains(#""silent":true"#))
    }

    @Test func `urgency is the author's, else by how loud the message is`() {
        var message = ContentVersion.boarding.message
        func urgency(_ delivery: DeliveryOptions) -> WebPushPreparedMessage.Headers.Urgency {
            render(ContentVersion(id: .init(1), message: message, delivery: delivery)).headers.urgency
        }
        #expect(urgency(DeliveryOptions(priority: .normal)) == .normal)
        #expect(urgency(DeliveryOptions()) == .high)
        message.presentation.interruptionLevel = .passive
        #expect(urgency(DeliveryOptions()) == .normal)
        #expect(urgency(DeliveryOptions(priority: .high)) == .high)
    }

    @Test func `declarative messages show themselves, with our own part under data`() {
        var message = ContentVersion.boarding.message
        message.variants[0].url = template("https://ferry.example/trips/{{tripRef|list}}")
        let content = ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions(collapseKey: "trip-88"))
        #expect(
            render(content, zoë) { $0.isDeclarative = true }.text == """
                {"notification":{"actions":[{"action":"pass","navigate":"ferry://pass/88%2FA","title":"Show pass"},\
                {"action":"mute","navigate":"https://ferry.example/trips/88%2FA","title":"Mute this trip"}],\
                "body":"Zoë, gate B4 opens in 10 minutes.",\
                "data":{"badgeCount":2,"data":{"leg":"2","screen":"trip"},"id":"12-1"},\
                "icon":"https://img.ferry.example/i/192.png","image":"https://img.ferry.example/gate/b.png",\
                "lang":"en","navigate":"https://ferry.example/trips/88%2FA","tag":"trip-88",\
                "title":"Boarding opens soon ⛴️"},"web_push":8030}
                """)
        #expect(!render(.boarding, zoë) { $0.isDeclarative = true }.text.contains("web_push"), "opens no page")
    }

    @Test func `overrides win over the content, but never over the job's id`() {
        var message = ContentVersion.boarding.message
        message.overrides = Overrides(
            webpush: .object([
                "headers": .object(["Urgency": .string("low"), "TTL": .string("60"), "topic": .string("a b")]),
                "notification": .object([
                    "requireInteraction": .bool(true), "title": .string("\"T\""), "vibrate": .array([.integer(9)]),
                    "id": .string("x"),
                ]),
            ]))
        let rendered = render(ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions()), zoë)
        #expect(rendered.text.contains(#""requireInteraction":true"#))
        #expect(rendered.text.contains(#""title":"\"T\"""#))
        #expect(rendered.text.contains(#""vibrate":[9]"#))
        #expect(rendered.text.contains(#""id":"12-1""#))
        #expect(rendered.headers.urgency == .low)
        #expect(rendered.headers.longestLife == 60)
        #expect(rendered.headers.topic == WebPushTopic.of("a b"))
    }

    @Test(arguments: [0, 1]) func `what the meter lets through is not refused for its size, and what it does not is`(
        excess: Int
    ) throws {
        func content(_ length: Int) -> ContentVersion {
            ContentVersion(
                id: .init(1),
                Variant(
                    language: "en", title: template("t"),
                    body: template("{{name|\(String(repeating: "x", count: length))}}"), image: nil, url: nil,
                    actions: []))
        }
        let empty = WebPushMessageMeter().sizes(of: content(1).message, delivery: DeliveryOptions())[0].bytes - 1
        let full = content(3993 - empty + excess)
        let size = try #require(WebPushMessageMeter().sizes(of: full.message, delivery: DeliveryOptions()).first)
        #expect(size.bytes == 3993 + excess)
        #expect(size.limit == 3993)
        let prepared = WebPushMessageCompiler(full, options: WebPushOptions()).compile()
        var job = OutgoingJob.web(1)
        job.values = [nil]
        job.identity = JobIdentity(run: .init(.max), number: .max)
        var bytes: [UInt8] = []
        #expect(prepared.append(job, body: 0, to: &bytes) == (excess == 0 ? nil : .payloadTooLarge))
        #expect(bytes.count == size.bytes)
    }

    @Test func `padding hides the length in steps, never beyond what Firefox for Android takes`() {
        for plaintext in 0...3993 {
            let body = plaintext + 103 + WebPushPadding.bytes(for: plaintext)
            let isStep = body % 256 == 0 || body == 2744 || plaintext + 103 > 2744
            #expect(isStep && body <= max(2744, plaintext + 103), "\(plaintext)")
        }
    }
}

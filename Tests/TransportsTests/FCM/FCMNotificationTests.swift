import Domain
import Foundation
import Testing

@testable import Transports

@Suite struct FCMNotificationTests {
    /// The worked example (content model §14), drawn by FCM.
    private func boarding(
        _ change: (inout Message, inout DeliveryOptions) -> Void = { _, _ in }
    ) -> ContentVersion {
        var message = ContentVersion.boarding.message
        var delivery = ContentVersion.boarding.delivery
        delivery.fcmMode = .notification
        change(&message, &delivery)
        return ContentVersion(id: .init(7), message: message, delivery: delivery)
    }

    private let zoe = ["firstName": "Zoë", "gate": "B4", "tripRef": "88/A"]

    @Test func `the worked example is rendered as a notification message`() throws {
        let rendered = try Rendering(boarding(), language: "en-IE", attributes: zoe)
        #expect(rendered.refusal == nil)
        let expected = #"""
            {"message":{"token":"t-1",
            "notification":{"title":"Boarding opens soon ⛴️","body":"Zoë, gate B4 opens in 10 minutes."},
            "data":{"screen":"trip","leg":"2","_id":"12-34","_url":"ferry://trip/88%2FA"},
            "android":{"priority":"high","ttl":"900s","collapse_key":"trip-88","notification":{
            "image":"https://img.ferry.example/gate/b.png","sound":"horn.caf","notification_count":2,
            "channel_id":"boarding","tag":"trip-88"}},
            "apns":{"headers":{"apns-priority":"10","apns-expiration":"1774000900","apns-collapse-id":"trip-88"},
            "payload":{"aps":{"sound":"horn.caf","badge":2,"thread-id":"trip-88","interruption-level":"time-sensitive",
            "relevance-score":0.8,"mutable-content":1}},
            "fcm_options":{"image":"https://img.ferry.example/gate/b.png"}},
            "webpush":{"headers":{"TTL":"900","Urgency":"high","Topic":"trip-88"},
            "notification":{"image":"https://img.ferry.example/gate/b.png","icon":"https://img.ferry.example/i/192.png",
            "tag":"trip-88","actions":[{"action":"pass","title":"Show pass"},{"action":"mute","title":"Mute this trip"}]}}}}
            """#
        #expect(try json(rendered.bytes) == json(Array(expected.utf8)))
    }

    @Test func `without a collapse key the job's id is what a repeat replaces`() throws {
        let content = boarding { $1.collapseKey = nil }
        let message = try message(content)
        #expect(message.value("android/notification/tag") == "12-34")
        #expect(message.value("apns/headers/apns-collapse-id") == "12-34")
        #expect(message.value("webpush/notification/tag") == "12-34")
        #expect(message.value("webpush/headers/Topic") == nil && message.value("android/collapse_key") == nil)
    }

    @Test(
        arguments: [
            ("https://ferry.example/t/{{tripRef}}", [:], "https://ferry.example/t/"),
            ("HTTPS://ferry.example/{{tripRef}}", ["tripRef": "a b"], "HTTPS://ferry.example/a%20b"),
            ("{{link|ferry://list}}", ["link": "https://ferry.example/88"], "https://ferry.example/88"),
            ("{{link|ferry://list}}", [:], nil), ("ferry://trip/{{tripRef}}", ["tripRef": "1"], nil),
            ("http://ferry.example/", [:], nil),
        ] as [(String, [String: String], String?)])
    func `only a link that comes out as https is opened by browsers`(
        url: String, attributes: [String: String], link: String?
    ) throws {
        let content = boarding { message, _ in
            message.variants[0].url = template(url)
            message.variants[0].actions = []
        }
        #expect(try message(content, attributes).value("webpush/fcm_options/link") == link)
    }

    @Test(arguments: [("none", nil), (nil, "default"), ("horn.caf", "horn.caf")] as [(String?, String?)])
    func `no sound is the default on Apple's devices, and none is none`(sound: String?, apple: String?) throws {
        let message = try message(boarding { message, _ in message.presentation.sound = sound })
        #expect(message.value("apns/payload/aps/sound") == apple)
        #expect(message.value("android/notification/sound") == (sound == "none" ? nil : sound))
        #expect(message.value("webpush/notification/silent") == (sound == "none" ? "true" : nil))
    }

    @Test(
        arguments: [
            (Presentation.InterruptionLevel.passive, "5", "normal", "passive"), (.active, "10", "high", nil),
            (.critical, "10", "high", "critical"),
        ] as [(Presentation.InterruptionLevel, String, String, String?)])
    func `the interruption level sets priority and Apple's key`(
        level: Presentation.InterruptionLevel, apple: String, android: String, key: String?
    ) throws {
        let message = try message(boarding { message, _ in message.presentation.interruptionLevel = level })
        #expect(message.value("apns/headers/apns-priority") == apple)
        #expect(message.value("android/priority") == android)
        #expect(message.value("apns/payload/aps/interruption-level") == key)
        #expect(message.value("apns/payload/aps/sound/critical") == (level == .critical ? "1" : nil))
    }

    @Test func `a priority that is given wins over the level`() throws {
        let content = boarding { message, delivery in
            message.presentation.interruptionLevel = .passive
            delivery.priority = .high
        }
        #expect(try message(content).value("apns/headers/apns-priority") == "10")
    }

    @Test func `a life of 0 seconds is now or never on every platform`() throws {
        let rendered = try Rendering(boarding(), language: "en", attributes: zoe, remaining: 0)
        let message = try json(rendered.bytes)["message"] as? NSDictionary ?? [:]
        #expect(message.value("android/ttl") == "0s" && message.value("webpush/headers/TTL") == "0")
        #expect(message.value("apns/headers/apns-expiration") == "0")
    }

    @Test func `a silent message has no notification and wakes Apple's devices in the background`() throws {
        let content = boarding { message, delivery in
            message = Message(
                variants: [], defaultVariant: 0, presentation: Presentation(), data: [.init(key: "op", value: "x")],
                silent: true)
            delivery.collapseKey = nil
        }
        let rendered = try Rendering(content, language: nil, attributes: [:])
        let expected = #"""
            {"message":{"android":{"priority":"normal","ttl":"900s"},"apns":{"headers":{"apns-expiration":"1774000900",
            "apns-priority":"5","apns-push-type":"background"},"payload":{"aps":{"content-available":1}}},
            "data":{"_id":"12-34","op":"x"},"token":"t-1"}}
            """#
        #expect(String(decoding: rendered.bytes, as: UTF8.self) == expected.replacing("\n", with: ""))
    }

    @Test func `both notification blocks and the data count towards the limit`() throws {
        let content = boarding()
        let size = FCMMessageMeter().sizes(of: content.message, delivery: content.delivery)[0]
        let rendered = try Rendering(
            content, language: "en", attributes: [:], identity: FCMMessageMeterTests.longestID)
        let message = try json(rendered.bytes)["message"] as? NSDictionary ?? [:]
        let parts = [
            message["data"], message["notification"], (message["android"] as? NSDictionary)?["notification"],
        ]
        let bytes = try parts.map { part in
            try JSONSerialization.data(
                withJSONObject: try #require(part), options: [.withoutEscapingSlashes]
            ).count
        }
        #expect(size.bytes == bytes.reduce(0, +))
    }

    private func message(_ content: ContentVersion, _ attributes: [String: String] = [:]) throws -> NSDictionary {
        let rendered = try Rendering(content, language: "en", attributes: attributes)
        #expect(rendered.refusal == nil)
        return try json(rendered.bytes)["message"] as? NSDictionary ?? [:]
    }
}

extension NSDictionary {
    /// The scalar at a path, as text.
    func value(_ path: String) -> String? {
        var value: Any? = self
        for key in path.split(separator: "/") { value = (value as? NSDictionary)?[String(key)] }
        return value.map { "\($0)" }
    }
}

import Domain
import Foundation
import Testing

@testable import Transports

/// Overrides, targets, channels and labels, in both kinds of message.
@Suite struct FCMMessageOptionsTests {
    private func message(
        _ overrides: Overrides = .none, mode: DeliveryOptions.FCMMode = .data, channel: AndroidChannel? = nil,
        token: String = "t-1", validateOnly: Bool = false, change: (inout DeliveryOptions) -> Void = { _ in }
    ) throws -> NSDictionary {
        var message = ContentVersion.boarding.message
        message.overrides = overrides
        var delivery = ContentVersion.boarding.delivery
        delivery.fcmMode = mode
        change(&delivery)
        let content = ContentVersion(id: .init(7), message: message, delivery: delivery, channel: channel)
        let prepared = FCMMessageCompiler(content, validateOnly: validateOnly).compile()
        let job = OutgoingJob(
            ticket: Ticket(batch: 1, ordinal: 2), identity: JobIdentity(run: .init(12), number: 34),
            address: Address(text: token), language: "en", values: content.placeholderNames.map { _ in nil },
            remainingSeconds: 900)
        var bytes: [UInt8] = []
        #expect(prepared.append(job, body: 0, now: 1_774_000_000, to: &bytes) == nil)
        return try json(bytes)
    }

    private func overrides(_ json: String) throws -> Overrides {
        try MessageReader.message(from: #"{"silent":true,"overrides":\#(json)}"#).overrides
    }

    @Test(arguments: [
        (#"{"android":{"collapseKey":"other"}}"#, "android/collapse_key", "other"),
        (#"{"android":{"ttl":"5s"}}"#, "android/ttl", "5s"),
        (#"{"android":{"priority":"NORMAL"}}"#, "android/priority", "NORMAL"),
        (#"{"android":{"directBootOk":true}}"#, "android/direct_boot_ok", "true"),
        (#"{"android":{"notification":{"clickAction":"OPEN"}}}"#, "android/notification/click_action", "OPEN"),
        (#"{"apns":{"headers":{"Apns-Collapse-Id":"x"}}}"#, "apns/headers/Apns-Collapse-Id", "x"),
        (#"{"apns":{"payload":{"aps":{"category":"TRIP"},"own":{"a":1}}}}"#, "apns/payload/own/a", "1"),
        (#"{"webpush":{"headers":{"urgency":"low"}}}"#, "webpush/headers/urgency", "low"),
        (
            #"{"webpush":{"fcmOptions":{"link":"https://x.example/"}}}"#, "webpush/fcm_options/link",
            "https://x.example/"
        ),
        (
            #"{"webpush":{"notification":{"requireInteraction":true}}}"#, "webpush/notification/requireInteraction",
            "true"
        ),
    ])
    func `what an author sets stands in the message, in either kind`(
        json: String, path: String, expected: String
    ) throws {
        for mode in DeliveryOptions.FCMMode.allCases {
            let request = try message(overrides(json), mode: mode)
            #expect(request.value("message/" + path) == expected)
        }
    }

    @Test func `overrides lie over the content member by member`() throws {
        let request = try message(
            overrides(
                #"{"apns":{"headers":{"APNS-Priority":"5"},"payload":{"aps":{"sound":"bell.caf"}}},"webpush":{"fcm_options":{"analytics_label":"w"}}}"#
            ),
            mode: .notification)
        #expect(request.value("message/apns/headers/APNS-Priority") == "5")
        #expect(request.value("message/apns/headers/apns-priority") == nil)
        #expect(request.value("message/apns/payload/aps/sound") == "bell.caf")
        #expect(request.value("message/apns/payload/aps/badge") == "2")
        #expect(request.value("message/webpush/fcm_options/analytics_label") == "w")
    }

    @Test func `a platform's own data keeps the id that repeats are known by`() throws {
        let data = try overrides(#"{"android":{"data":{"id":"mine","a":"b"}},"webpush":{"data":{}}}"#)
        let drawn = try message(data)
        #expect(drawn.value("message/android/data/id") == "12-34" && drawn.value("message/webpush/data/id") == "12-34")
        let notified = try message(data, mode: .notification)
        #expect(notified.value("message/android/data/_id") == "12-34")
        #expect(notified.value("message/android/data/id") == "mine")
    }

    @Test func `a message that shows nothing never hurries Apple`() throws {
        let hurry = try overrides(#"{"apns":{"headers":{"apns-priority":"10"}}}"#)
        #expect(try message(hurry).value("message/apns/headers/apns-priority") == "5")
        #expect(try message(hurry, mode: .notification).value("message/apns/headers/apns-priority") == "10")
        let alert = try overrides(
            #"{"apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"alert":{"title":"x"}}}}}"#)
        #expect(try message(alert).value("message/apns/headers/apns-priority") == "10")
    }

    @Test(arguments: [
        ("t:APA91b", "token", "t:APA91b"), ("fid:dGhpcyBpcyBhIGZpZA", "fid", "dGhpcyBpcyBhIGZpZA"),
        (ProviderTarget.topic("news.2031").address, "topic", "news.2031"),
        (
            ProviderTarget.condition("'a' in topics && !('b' in topics)").address, "condition",
            "'a' in topics && !('b' in topics)"
        ),
    ])
    func `an address names a token, an installation, a topic or a condition`(
        address: String, field: String, value: String
    ) throws {
        for mode in DeliveryOptions.FCMMode.allCases {
            let sent = try message(mode: mode, token: address)["message"] as? [String: Any] ?? [:]
            let targets = ["token", "fid", "topic", "condition"].filter { sent[$0] != nil }
            #expect(targets == [field] && sent[field] as? String == value)
        }
    }

    @Test func `a message to a topic may have half the bytes`() throws {
        let content = ContentVersion(
            id: .init(1),
            Variant(
                language: "en", title: template("t"), body: template(String(repeating: "x", count: 2048)), image: nil,
                url: nil, actions: []))
        #expect(try Rendering(content, language: nil, attributes: [:]).refusal == nil)
        #expect(try Rendering(content, language: nil, attributes: [:], token: "/topics/a").refusal == .payloadTooLarge)
    }

    @Test func `labels and the mark of a check stand where v1 has them`() throws {
        let request = try message(validateOnly: true) { $0.analyticsLabel = "winter" }
        #expect(request.value("message/fcm_options/analytics_label") == "winter")
        #expect(request.value("validate_only") == "true" && request.value("message/validate_only") == nil)
    }

    private let channel = AndroidChannel(
        id: "boarding", name: "Boarding calls", importance: .high, description: "Gates and times", vibration: true)

    @Test func `a channel that the app defines is described in data messages`() throws {
        #expect(
            try message(channel: channel).value("message/data/channel")
                == #"{"description":"Gates and times","id":"boarding","importance":"high","name":"Boarding calls","vibration":true}"#
        )
        #expect(try message().value("message/data/channel") == nil)
        #expect(try message(mode: .notification, channel: channel).value("message/data/channel") == nil)
    }

    @Test func `a channel's optional members go before a message is refused`() throws {
        func rendered(_ length: Int) throws -> Rendering {
            let variant = Variant(
                language: "en", title: template("t"), body: template(String(repeating: "x", count: length)), image: nil,
                url: nil, actions: [])
            var message = Message(
                variants: [variant], defaultVariant: 0, presentation: Presentation(), data: [], silent: false)
            message.presentation.channelId = "boarding"
            return try Rendering(
                ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions(), channel: channel),
                language: nil, attributes: [:])
        }
        let whole = try #require((1...4096).last { try! rendered($0).holds("Gates and times") })
        let short = try rendered(whole + 1)
        #expect(short.refusal == nil && !short.holds("Gates and times") && short.holds("Boarding calls"))
        #expect(try rendered(4096).refusal == .payloadTooLarge)
    }
}

extension Rendering {
    fileprivate func holds(_ text: String) -> Bool {
        refusal == nil && String(decoding: bytes, as: UTF8.self).contains(text)
    }
}

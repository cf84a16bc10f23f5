import Domain
import Testing

@testable import Transports

@Suite(.timeLimit(.minutes(1))) struct WebPushMessagePreviewTests {
    private let vapid = VAPIDVectors.all.vapid

    private func recipient(_ address: Address, service: WebPushService = .other, remaining: Int64 = 900)
        -> PreviewRecipient
    {
        PreviewRecipient(
            identity: JobIdentity(run: .init(12), number: 1), address: address, language: "en",
            attributes: ["firstName": "Zoë", "gate": "B4", "tripRef": "88/A"], remainingSeconds: remaining,
            now: 1_774_000_000, service: service.rawValue)
    }

    private func value(_ name: String, _ preview: RequestPreview?) -> String? {
        preview?.headers.first { $0.name == name }?.value
    }

    @Test(arguments: WebPushService.allCases)
    func `a preview is the request that is sent, but for its token, and what the browser reads`(
        service: WebPushService
    ) async throws {
        let fake = try FakePushService()
        let file = try TemporaryFile(Array(vapid.key.pem.utf8))
        let key = WebPushTransport.Key(id: .init(1), path: file.path, contact: "mailto:push@ferry.example")
        let transport = try fake.transport(service: service, keys: [key])
        let recipient = recipient(try FakePushService.address(fake.endpoint("a?b=c")), service: service, remaining: 0)
        #expect(try await transport.results(of: [recipient.job(of: .boarding)]).first?.status == 201)
        await transport.close(by: .now)
        let sent = try #require(fake.received.first)
        let preview = try #require(
            WebPushMessagePreview(publicKeys: [.init(1): vapid.key.k], newest: .init(1))
                .preview(of: .boarding, for: recipient))
        #expect(preview.url.hasSuffix(sent.path) && preview.method == "POST")
        #expect(try preview.body == FakePushService.open(sent.body))
        #expect(preview.bytes == preview.body.utf8.count && preview.limit == 3993 && preview.refusal == nil)
        for (name, value) in preview.headers where name != "authorization" {
            #expect(sent.fields[name] == value, "\(name)")
        }
        #expect(sent.fields.keys.filter { $0.hasPrefix("x-") } == (service == .wns ? ["x-wns-cache-policy"] : []))
        #expect((value("x-wns-cache-policy", preview) != nil) == (service == .wns))
        #expect(value("authorization", preview) == "vapid t=<token>, k=\(vapid.key.k)")
        #expect(sent.fields["authorization"]?.hasSuffix("k=\(vapid.key.k)") == true)
    }

    @Test func `the key is the one that the subscription was made for`() throws {
        let face = WebPushMessagePreview(
            publicKeys: [.init(1): vapid.key.k, .init(2): vapid.otherKey.k], newest: .init(2))
        let old = recipient(try FakePushService.address("https://push.example/a", vapidKey: .init(1)))
        #expect(value("authorization", face.preview(of: .boarding, for: old))?.hasSuffix(vapid.key.k) == true)
        let unknown = recipient(try FakePushService.address("https://push.example/a"))
        #expect(value("authorization", face.preview(of: .boarding, for: unknown))?.hasSuffix(vapid.otherKey.k) == true)
    }

    @Test func `a browser gets nothing of a silent message`() throws {
        let message = Message(
            variants: [], defaultVariant: 0, presentation: Presentation(), data: [.init(key: "op", value: "x")],
            silent: true)
        let content = ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions())
        let address = try FakePushService.address("https://push.example/a")
        #expect(WebPushMessagePreview().preview(of: content, for: recipient(address)) == nil)
    }

    @Test func `what would not be sent says why`() throws {
        var address = try FakePushService.address("http://push.example/a")
        #expect(
            WebPushMessagePreview().preview(of: .boarding, for: recipient(address))?.refusal == .webpushEndpointRefused)
        address.text = "https://push.example/a"
        address.auth = "short"
        #expect(WebPushMessagePreview().preview(of: .boarding, for: recipient(address))?.refusal == .webpushKeysInvalid)
    }

    @Test func `a VAPID key that signs is found good`() throws {
        try VAPIDKey(file: Array(vapid.key.pem.utf8), contact: "mailto:push@ferry.example").check(now: 1_774_000_000)
    }
}

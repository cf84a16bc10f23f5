import Domain
import Testing

@testable import Transports

@Suite(.timeLimit(.minutes(1))) struct APNsMessagePreviewTests {
    private let attributes = ["firstName": "Zoë", "gate": "B4", "tripRef": "88/A"]
    private static let token = String(repeating: "aB", count: 32)

    private func recipient(
        _ address: Address = Address(text: token, environment: .production), language: String? = "en"
    ) -> PreviewRecipient {
        PreviewRecipient(
            identity: JobIdentity(run: .init(12), number: 7), address: address, language: language,
            attributes: attributes, remainingSeconds: 900, now: 1_774_000_000)
    }

    @Test func `a preview is the request that is sent, but for the provider token`() async throws {
        let fake = try FakeAPNs()
        let transport = try fake.transport()
        let recipient = recipient()
        try await withThrowingTaskGroup { group in
            group.addTask { try await transport.run() }
            try await transport.ready()
            #expect(try await transport.results(of: [recipient.job(of: .boarding)]).first?.status == 200)
            group.cancelAll()
        }
        await transport.close(by: .now + .seconds(5))
        let sent = try #require(fake.received.first)
        let preview = try #require(
            APNsMessagePreview(keyFile: fake.credential.file).preview(of: .boarding, for: recipient))
        #expect(preview.url.hasPrefix("https://localhost:") && preview.url.hasSuffix(sent.path))
        #expect(preview.body == String(decoding: sent.body, as: UTF8.self))
        #expect(preview.bytes == sent.body.count && preview.limit == 4096 && preview.refusal == nil)
        #expect(preview.language == "en")
        for (name, value) in preview.headers where name != "authorization" && name != "apns-expiration" {
            #expect(sent.fields[name] == value, "\(name)")
        }
        // The store's clock goes on.
        let shown = preview.headers.first { $0.name == "apns-expiration" }.flatMap { Int64($0.value) } ?? 0
        let expiration = try #require(Int64(sent.fields["apns-expiration"] ?? ""))
        #expect((shown...shown + 20).contains(expiration))
        #expect(preview.headers.map(\.name).sorted() == sent.fields.keys.filter { Self.isOurs($0) }.sorted())
        #expect(preview.headers.contains { $0 == ("authorization", "bearer <provider token>") })
    }

    private static func isOurs(_ name: String) -> Bool { name == "authorization" || name.hasPrefix("apns-") }

    @Test func `it goes to the environment that the subscriber has, at the host that the credential names`() throws {
        let sandbox = recipient(Address(text: Self.token, environment: .sandbox))
        let plain = APNsMessagePreview(topic: "example.ferry")
        #expect(
            plain.preview(of: .boarding, for: sandbox)?.url
                == "https://api.sandbox.push.apple.com/3/device/" + Self.token.lowercased())
        #expect(plain.preview(of: .boarding, for: recipient())?.url.hasPrefix("https://api.push.apple.com/3/") == true)
        let local = APNsMessagePreview(topic: "example.ferry", endpoint: "https://localhost:8443")
        #expect(local.preview(of: .boarding, for: sandbox)?.url.hasPrefix("https://localhost:8443/3/device/") == true)
    }

    @Test(
        arguments: [
            (Address(text: "no-token"), nil, Reason.apnsBadDeviceToken),
            (Address(text: token, environment: .sandbox), "production", .apnsBadEnvironmentKeyID),
        ] as [(Address, String?, Reason)])
    func `what would not be sent says why`(address: Address, environment: String?, reason: Reason) throws {
        let preview = try #require(
            APNsMessagePreview(topic: "a.b", environment: environment).preview(of: .boarding, for: recipient(address)))
        #expect(preview.refusal == reason)
        #expect(preview.body.contains("Boarding opens soon"))
    }

    @Test func `a silent message is previewed as the background push that it is`() throws {
        let message = Message(
            variants: [], defaultVariant: 0, presentation: Presentation(), data: [.init(key: "op", value: "x")],
            silent: true)
        let preview = try #require(
            APNsMessagePreview(topic: "a.b").preview(
                of: ContentVersion(id: .init(1), message: message, delivery: DeliveryOptions()), for: recipient()))
        #expect(preview.headers.contains { $0 == ("apns-push-type", "background") })
        #expect(preview.headers.contains { $0 == ("apns-priority", "5") })
        #expect(preview.language == nil)
    }

    @Test func `a key that signs is found good, and one that is not there is named`() throws {
        let credential = try APNsCredential()
        try APNsKeyFile.check(path: credential.file, now: 1_774_000_000)
        #expect(throws: KeyFileProblems.self) { try APNsKeyFile.check(path: credential.folder + "/none", now: 0) }
    }
}

import Crypto
import Domain
import Testing

@testable import Simulator
@testable import Transports

/// One provider's own check of what the renderer makes, and that renderer's face.
protocol ProviderJudge {
    var preview: any MessagePreview { get }
    func address(number: Int) throws -> Address
    /// - Throws: why the provider would refuse the request.
    func check(_ request: RequestPreview) throws
}

struct FCMJudge: ProviderJudge {
    let preview: any MessagePreview = FCMMessagePreview(project: "p")

    func address(number: Int) -> Address { Address(text: "token-\(number)") }

    func check(_ request: RequestPreview) throws {
        let reader = try SendRequestReader(Array(request.body.utf8))
        #expect(reader.request.sizes.payload <= request.limit)
    }
}

struct APNsJudge: ProviderJudge {
    private static let topic = "example.ferry"
    let preview: any MessagePreview = APNsMessagePreview(topic: topic)

    func address(number: Int) -> Address {
        let digits = String(number, radix: 16)
        return Address(text: String(repeating: "c", count: 64 - digits.count) + digits, environment: .production)
    }

    func check(_ request: RequestPreview) throws {
        let values = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, Array($0.value.utf8)) })
        var fields = APNsFields()
        fields.topic = values["apns-topic"]
        fields.pushType = values["apns-push-type"]
        fields.id = values["apns-id"]
        fields.expiration = values["apns-expiration"]
        fields.priority = values["apns-priority"]
        fields.collapseID = values["apns-collapse-id"]
        let path = request.url.dropFirst("https://api.push.apple.com".count)
        let arrived = ProviderRequest(method: request.method, path: String(path), body: Array(request.body.utf8))
        let checked = try APNsRequest(arrived, fields)
        let key = ProviderTokens.Key(
            teamID: "A1B2C3D4E5", keyID: "F6G7H8J9K0", topic: Self.topic, publicKey: try Self.key.get().publicKey)
        try checked.check(topicOf: key)
        _ = try checked.payload(arrived.body)
    }

    private static let key = Result { try P256.Signing.PrivateKey() }
}

/// Sealed as sending does, opened as a browser does.
struct WebPushJudge: ProviderJudge {
    private static let token = "browser"
    private let browser = BrowserKeys(token: Array(token.utf8)[...])
    private let sealer: EncryptedContent.Sealer
    private let opener: EncryptedContent.Opener
    private let isPadded: Bool
    let preview: any MessagePreview

    init(_ options: WebPushOptions = WebPushOptions()) throws {
        sealer = try EncryptedContent.Sealer()
        opener = try browser.opener()
        isPadded = options.isPadded
        preview = WebPushMessagePreview(options: options)
    }

    func address(number: Int) throws -> Address {
        Address(
            text: "https://push.example/push/\(Self.token)", p256dh: Base64URL.encode(opener.publicKey),
            auth: Base64URL.encode(browser.secret))
    }

    func check(_ request: RequestPreview) throws {
        let text = Array(request.body.utf8)
        let recipient = try EncryptedContent.Recipient(publicKey: opener.publicKey, secret: browser.secret)
        let sealed = try sealer.seal(
            text, for: recipient, padding: isPadded ? WebPushPadding.bytes(for: text.count) : 0)
        let values = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, Array($0.value.utf8)) })
        let arrived = ProviderRequest(
            method: request.method, path: "/push/\(Self.token)", body: sealed, header: { values["\($0)"] })
        _ = try PushRequest(arrived, nil)
        let read = try opener.open(sealed)
        #expect(read == text)
        #expect(try PushMessage(read).id != nil)
    }
}

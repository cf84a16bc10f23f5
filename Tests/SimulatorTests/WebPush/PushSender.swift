import Crypto
import FoundationEssentials
import HTTP2
import Threading

@testable import Simulator

/// Pushes to the endpoint without a server: requests in, actions out.
final class PushSender {
    static let origin = "https://push.example.net"

    let endpoint = PushServiceEndpoint(seed: 7)
    let state: Locked<SimulatorState>
    let key: P256.Signing.PrivateKey
    let clock = ContinuousClock.now

    init(faults: String = "") throws {
        var settings = FaultSettings(seed: 7)
        try settings.change(faults)
        state = Locked(SimulatorState(seed: 7, faults: settings))
        key = try P256.Signing.PrivateKey()
    }

    func authorization(expires: Int64 = 3600, contact: String? = "mailto:push@ferry.example") throws -> String {
        struct Claims: Encodable {
            let aud: String
            let exp: Int64
            let sub: String?
        }
        let now = Int64(Date().timeIntervalSince1970)
        let token = try JSONWebToken.sign(
            Claims(aud: Self.origin, exp: now + expires, sub: contact), keyID: nil, using: key)
        return "vapid t=\(token), k=\(Base64URL.encode(try key.publicKey.x963Representation))"
    }

    /// A message as a sender seals it for the browser behind `token`.
    func sealed(_ text: String, for token: String) throws -> [UInt8] {
        let keys = BrowserKeys(token: Array(token.utf8)[...])
        let recipient = try EncryptedContent.Recipient(publicKey: keys.opener().publicKey, secret: keys.secret)
        return try EncryptedContent.Sealer().seal(Array(text.utf8), for: recipient)
    }

    /// - Parameters:
    ///   - fields: replace or, nil, remove what a good request has.
    func push(
        _ token: String, _ text: String = #"{"id":"1-1","tag":"1-1","title":"Boarding"}"#, manners: String = "",
        query: String = "", method: String = "POST", body: [UInt8]? = nil, fields: [String: String?] = [:]
    ) throws -> HTTP2ServerAction {
        var all: [String: String] = [
            ":authority": "push.example.net", "ttl": "60", "urgency": "high", "topic": "1-1",
            "content-encoding": "aes128gcm", "authorization": try authorization(),
        ]
        for (name, value) in fields { all[name] = value }
        let path = "/push/\(manners.isEmpty ? "" : manners + "/")\(token)\(query)"
        let request = ProviderRequest(
            method: method, path: path, authorization: all["authorization"].map { Array($0.utf8) },
            body: try body ?? sealed(text, for: token),
            header: { name in all["\(name)"].map { Array($0.utf8) } })
        return endpoint.answer(request, try required(PushPath(path)), at: clock, state)
    }

    var counts: CountsReport { state.withLock { CountsReport($0, nil) } }

    private func required<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw CocoaError(.fileNoSuchFile) }
        return value
    }
}

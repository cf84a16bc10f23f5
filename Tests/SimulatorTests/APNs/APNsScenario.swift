import Crypto
import FoundationEssentials
import HTTP2
import Testing

@testable import Simulator

/// The APNs endpoint without a server: requests in, actions out.
final class APNsScenario {
    static let keyID = "F6G7H8J9K0"
    static let teamID = "A1B2C3D4E5"
    static let wallClock = 1_774_000_000.0

    struct Claims: Encodable {
        var iss: String? = APNsScenario.teamID
        var iat: Double? = APNsScenario.wallClock
    }

    let clock = ContinuousClock.now
    let endpoint = APNsEndpoint(seed: 7)
    let privateKey: P256.Signing.PrivateKey
    var state: SimulatorState
    private(set) var token = ""

    init(faults: String = "") throws {
        var settings = FaultSettings(seed: 7)
        try settings.change(faults)
        state = SimulatorState(seed: 7, faults: settings)
        privateKey = try P256.Signing.PrivateKey()
        for keyID in [Self.keyID, "OTHERKEY00"] {
            state.providerTokens.keys[keyID] = ProviderTokens.Key(
                teamID: Self.teamID, keyID: keyID, topic: "example.ferry", publicKey: privateKey.publicKey)
        }
        state.providerTokens.keys["OTHERTEAM0"] = ProviderTokens.Key(
            teamID: "Z9Z9Z9Z9Z9", keyID: "OTHERTEAM0", topic: "example.ferry", publicKey: privateKey.publicKey)
        token = try jwt()
    }

    func jwt(
        _ claims: Claims = Claims(), keyID: String? = APNsScenario.keyID, key: P256.Signing.PrivateKey? = nil
    ) throws -> String {
        "bearer " + (try JSONWebToken.sign(claims, keyID: keyID, using: key ?? privateKey))
    }

    /// A device token that begins with `mark`.
    static func device(_ mark: String = "", _ number: Int = 0) -> String {
        let end = String(number, radix: 16)
        return mark + String(repeating: "c", count: 64 - mark.count - end.count) + end
    }

    static func alert(_ id: String = "n-1") -> String {
        #"{"aps":{"alert":{"title":"Boarding","body":"Gate B4"},"sound":"default"},"id":"\#(id)"}"#
    }

    /// A good alert, unless told otherwise. A header of "" is left out.
    func send(
        _ body: String = APNsScenario.alert(), to device: String = APNsScenario.device(), path: String? = nil,
        method: String = "POST", headers: [String: String] = [:], token: String? = nil, connection: UInt64 = 1,
        sandbox: Bool = false, after: Duration = .zero, wallClock: Double = APNsScenario.wallClock,
        duplicates: Bool = false
    ) -> HTTP2ServerAction {
        var all = ["apns-topic": "example.ferry", "apns-push-type": "alert", "apns-priority": "10"]
        all.merge(headers) { $1 }
        func field(_ name: String) -> [UInt8]? { all[name].flatMap { $0.isEmpty ? nil : Array($0.utf8) } }
        var fields = APNsFields()
        fields.topic = field("apns-topic")
        fields.pushType = field("apns-push-type")
        fields.priority = field("apns-priority")
        fields.id = field("apns-id")
        fields.expiration = field("apns-expiration")
        fields.collapseID = field("apns-collapse-id")
        fields.connection = connection
        fields.isSandbox = sandbox
        fields.hasDuplicates = duplicates
        let authorization = token ?? self.token
        var request = ProviderRequest(
            method: method, path: path ?? "/3/device/\(device)",
            authorization: authorization.isEmpty ? nil : Array(authorization.utf8), body: Array(body.utf8))
        request.apns = fields
        return endpoint.answer(request, at: clock + after, wallClock: wallClock, &state)
    }
}

extension HTTP2ServerAction {
    /// Apple's reason; `ok` for a 200.
    var reason: String? { response?.status == 200 ? "ok" : json?["reason"]?.text }
}

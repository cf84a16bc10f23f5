import Crypto
import Domain

/// What provider tokens are signed with, and what they are good for (Apple: establishing a token-based connection to
/// APNs). It can be printed: the key is kept out.
struct APNsKey: TokenSealing {
    /// Which of Apple's environments the key, and so the app, is used in.
    enum Scope: String, CaseIterable, Sendable {
        case both
        case production
        case sandbox
    }

    /// 10 characters.
    let teamID: String
    /// 10 characters.
    let keyID: String
    /// The app's bundle id, without the suffix that some push types add.
    let topic: String
    let scope: Scope
    /// In place of Apple's own, for a simulator or a proxy.
    let productionEndpoint: String?
    let sandboxEndpoint: String?
    let privateKey: P256.Signing.PrivateKey
    let sealingKey: SymmetricKey

    /// Who a token of this key is: connections are bound to it.
    var owner: String { "\(teamID)/\(keyID)" }
}

/// What may be known of an APNs credential file: checked as sending checks it.
package struct APNsKeyFile: Sendable {
    package let teamID: String
    package let keyID: String
    package let topic: String
    /// `both`, `production` or `sandbox`.
    package let environment: String

    /// - Throws: `KeyFileProblems`, all at once.
    package init(path: String) throws {
        let key = try APNsKeyReading(path: path).key
        teamID = key.teamID
        keyID = key.keyID
        topic = key.topic
        environment = key.scope.rawValue
    }
}

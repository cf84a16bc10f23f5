import Crypto
import Domain
import Threading

/// Signs the provider tokens of one key (Apple: establishing a token-based connection to APNs): ES256, `kid`, `iss`, `iat`.
///
/// The fleet shares one through the database; this class sees to it that one process, whatever becomes of the row, never
/// makes a second for the same key within 20 minutes.
final class APNsTokenSource: TokenSource {
    /// Apple's: not more often than every 20 minutes, not older than an hour.
    static let shortestRenewal = Duration.seconds(20 * 60)
    private static let lifetime = Duration.seconds(3600)
    /// How far a token is dated back, so that a clock of Apple's that is a little behind takes it.
    private static let slackSeconds: Int64 = 30

    private struct Claims: Encodable {
        var iss: String
        var iat: Int64
    }

    private struct Signed: Sendable {
        var owner: String
        var token: AccessToken
        var at: Instant
    }

    private let file: APNsKeyReading
    private let last = Locked<Signed?>(nil)

    init(file: APNsKeyReading) { self.file = file }

    var key: APNsKey { file.key }
    var owner: String { key.owner }
    var sealingKey: SymmetricKey { key.sealingKey }

    func reload() throws -> Bool { try file.reload() }

    func issue(at now: Instant) async throws -> OAuthAnswer {
        let key = key
        let signed = try last.withLock { last in
            if let last, last.owner == key.owner, now - last.at < Self.shortestRenewal { return last }
            let token = AccessToken(text: try Self.token(of: key, at: now))
            let signed = Signed(owner: key.owner, token: token, at: now)
            last = signed
            return signed
        }
        return .token(signed.token, lifetime: signed.at + (Self.lifetime - .seconds(Self.slackSeconds)) - now)
    }

    /// - Parameter now: the database's.
    static func token(of key: APNsKey, at now: Instant) throws -> String {
        let claims = Claims(iss: key.teamID, iat: now.seconds - slackSeconds)
        return try JSONWebToken.sign(claims, keyID: key.keyID, using: key.privateKey)
    }
}

import Crypto
import Domain

extension APNsKeyFile {
    /// Signs a provider token as sending does and verifies it, without asking Apple.
    /// - Parameter now: seconds since 1970.
    /// - Throws: `KeyFileProblems`, all at once; `CryptoError`, `JSONWebTokenError`.
    package static func check(path: String, now: Int64) throws {
        let key = try APNsKeyReading(path: path).key
        let token = try APNsTokenSource.token(of: key, at: Instant(microseconds: now * 1_000_000))
        try JSONWebToken(parsing: token).verify(using: key.privateKey.publicKey)
    }
}

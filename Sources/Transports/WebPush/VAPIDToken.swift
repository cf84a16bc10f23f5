import Crypto
import Domain

/// The header `Authorization` of requests to one origin under one key (RFC 8292 §2, §3).
struct VAPIDToken: Sendable {
    /// Push services refuse tokens that live longer than a day; a half leaves room for any clock.
    private static let lifetimeSeconds: Int64 = 12 * 3600
    /// Made anew when less than this is left.
    private static let reserveSeconds: Int64 = 3 * 3600

    private struct Claims: Encodable {
        let aud: String
        let exp: Int64
        let sub: String
    }

    /// `vapid t=…, k=…`.
    let authorization: String
    private let expiresAt: Int64

    /// - Parameter now: seconds since 1970.
    init(for audience: String, key: VAPIDKey, now: Int64) throws(CryptoError) {
        expiresAt = now + Self.lifetimeSeconds
        let token = try JSONWebToken.sign(
            Claims(aud: audience, exp: expiresAt, sub: key.contact), keyID: nil, using: key.signing)
        authorization = "vapid t=\(token), k=\(key.publicKey)"
    }

    func isFresh(at now: Int64) -> Bool { expiresAt - now >= Self.reserveSeconds }
}

import Crypto

extension VAPIDKey {
    /// Signs a token as sending does and verifies it, without asking a push service.
    /// - Parameter now: seconds since 1970.
    package func check(now: Int64) throws {
        let signed = try VAPIDToken(for: "https://push.example", key: self, now: now)
        let text = signed.authorization.dropFirst("vapid t=".count).prefix { $0 != "," }
        try JSONWebToken(parsing: String(text)).verify(using: signing.publicKey)
    }
}

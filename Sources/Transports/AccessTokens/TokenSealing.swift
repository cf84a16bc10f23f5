import Crypto
import Domain

/// Has a key that access tokens are sealed under in the database: whoever lacks the key file cannot read them.
protocol TokenSealing: Sendable {
    var sealingKey: SymmetricKey { get }
}

extension ServiceAccount: TokenSealing {}

extension TokenSealing {
    /// Seals a token with AES-256-GCM. The row's instants and the credential are bound to it: changed, it does not open.
    func seal(
        _ token: AccessToken, issuedAt: Instant, expiresAt: Instant, credential: Credential.ID
    ) throws -> SealedToken {
        let box = try AES.GCM.seal(
            Array(token.text.utf8), using: sealingKey, authenticating: bound(issuedAt, expiresAt, credential))
        return SealedToken(sealed: box.combined, issuedAt: issuedAt, expiresAt: expiresAt)
    }

    /// - Returns: nil when it was sealed under another key, or changed.
    func open(_ row: SealedToken, credential: Credential.ID) -> AccessToken? {
        guard let box = try? AES.GCM.SealedBox(combined: row.sealed),
            let text = try? AES.GCM.open(
                box, using: sealingKey, authenticating: bound(row.issuedAt, row.expiresAt, credential))
        else { return nil }
        return AccessToken(text: String(decoding: text, as: UTF8.self))
    }
}

private func bound(_ issuedAt: Instant, _ expiresAt: Instant, _ credential: Credential.ID) -> [UInt8] {
    Array("\(credential) \(issuedAt.microseconds) \(expiresAt.microseconds)".utf8)
}

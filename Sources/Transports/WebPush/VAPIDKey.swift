import Crypto
import FoundationEssentials

/// What an app signs its Web Push requests with (RFC 8292). Subscriptions are tied to it for life.
package struct VAPIDKey: Sendable {
    let signing: P256.Signing.PrivateKey
    /// 65 bytes in base64url: the parameter `k`, and what browsers take as `applicationServerKey`.
    package let publicKey: String
    /// Whom a push service writes to: a `mailto:` or `https:` URI.
    package let contact: String

    package init(signing: P256.Signing.PrivateKey, contact: String) throws(CryptoError) {
        self.signing = signing
        self.contact = contact
        publicKey = Base64URL.encode(try signing.publicKey.x963Representation)
    }

    /// Reads a key's file: PEM, the JSON that other senders keep (`privateKey`), or 32 bytes in base64url.
    /// - Throws: `VAPIDKeyInvalid`.
    package init(path: String, contact: String) throws {
        guard let file = FileManager.default.contents(atPath: path) else { throw VAPIDKeyInvalid.unreadable }
        try self.init(file: Array(file), contact: contact)
    }

    init(file: [UInt8], contact: String) throws {
        guard Self.isContact(contact) else { throw VAPIDKeyInvalid.contact }
        do {
            try self.init(signing: try Self.privateKey(String(decoding: file, as: UTF8.self)), contact: contact)
        } catch {
            throw VAPIDKeyInvalid.malformed
        }
    }

    private static func privateKey(_ text: String) throws -> P256.Signing.PrivateKey {
        if text.contains("-----BEGIN") { return try P256.Signing.PrivateKey(pemRepresentation: text) }
        struct KeyPair: Decodable { var privateKey: String }
        let pair = try? JSONDecoder().decode(KeyPair.self, from: Data(text.utf8))
        let raw = (pair?.privateKey ?? text).filter { !$0.isWhitespace && $0 != "=" }
        return try P256.Signing.PrivateKey(rawRepresentation: Base64URL.decode(raw) ?? [])
    }

    /// Apple and Mozilla want one (RFC 8292 §2.1); Apple refuses hosts that are reserved for no use.
    package static func isContact(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }) else { return false }
        let host: Substring
        if text.hasPrefix("mailto:") {
            let parts = text.dropFirst("mailto:".count).split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { return false }
            host = parts[1]
        } else if text.hasPrefix("https://") {
            host = text.dropFirst("https://".count).prefix { !"/?#:".contains($0) }
        } else {
            return false
        }
        let labels = host.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.allSatisfy { !$0.isEmpty }
            && !["localhost", "invalid"].contains(labels[labels.count - 1])
    }
}

extension VAPIDKey: CustomStringConvertible {
    package var description: String { "VAPID key \(publicKey.prefix(8))…" }
}

/// Why a VAPID key cannot be used. No part of the file is quoted.
package struct VAPIDKeyInvalid: Error, Sendable, CustomStringConvertible {
    package let description: String

    static let unreadable = VAPIDKeyInvalid(
        description: "the VAPID key file does not exist or cannot be read; check the path and the permissions")
    static let malformed = VAPIDKeyInvalid(
        description: """
            the VAPID key file holds no P-256 private key; give an unencrypted PEM file, or make one: \
            pushfleet credential add NAME --transport webpush --generate
            """)
    static let contact = VAPIDKeyInvalid(
        description: "the contact must be mailto: with an address or https:// with a host that exists")
}

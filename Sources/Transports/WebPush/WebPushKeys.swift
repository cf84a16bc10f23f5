import Crypto
import Domain

extension EncryptedContent.Recipient {
    /// A subscription's keys in either alphabet of base64, with or without padding.
    /// - Returns: nil unless they are 65 bytes that begin with 4, and 16.
    init?(_ address: Address) {
        guard let p256dh = address.p256dh, let auth = address.auth,
            let publicKey = Base64URL.decode(Self.urlSafe(p256dh)), let secret = Base64URL.decode(Self.urlSafe(auth)),
            let recipient = try? EncryptedContent.Recipient(publicKey: publicKey, secret: secret)
        else { return nil }
        self = recipient
    }

    private static func urlSafe(_ text: String) -> String {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// How much to add to a record so that its length says little: up to a multiple of 256 bytes, never beyond what Firefox
/// for Android takes.
enum WebPushPadding {
    static let step = 256
    static let longestBody = 2744

    static func bytes(for plaintext: Int) -> Int {
        let body = plaintext + EncryptedContent.overheadByteCount
        return max(0, min((body + step - 1) / step * step, longestBody) - body)
    }
}

import COpenSSL

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5, as JOSE and Web Push use it).
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        // EVP ends the text with a zero byte.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let length = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(length)).lazy.filter { $0 != padding }.map(urlSafe), as: UTF8.self)
    }

    /// - Returns: nil for anything but the one canonical spelling: other characters, padding, white space, or bits beyond
    ///   the last byte.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var encoded = text.utf8.map(standard)
        guard encoded.count % 4 != 1 else { return nil }
        let missing = (4 - encoded.count % 4) % 4
        encoded += [UInt8](repeating: padding, count: missing)
        var bytes = [UInt8](repeating: 0, count: encoded.count / 4 * 3)
        let length = EVP_DecodeBlock(&bytes, encoded, Int32(encoded.count))
        guard length >= missing, Int(length) == bytes.count else { return nil }
        bytes.removeLast(missing)
        // EVP skips white space at either end and ignores spare bits; only the canonical text encodes back to itself.
        return encode(bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }

    private static let padding = UInt8(ascii: "=")

    private static func urlSafe(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: character
        }
    }

    private static func standard(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: character
        }
    }
}

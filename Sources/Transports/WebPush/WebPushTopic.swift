import Crypto

/// The header `Topic` (RFC 8030 §5.4): at most 32 characters of the base64url alphabet.
enum WebPushTopic {
    /// The key itself where it fits, else 24 bytes of its digest.
    static func of(_ key: String) -> [UInt8] {
        let bytes = Array(key.utf8)
        if isTopic(bytes) { return bytes }
        return Array(Base64URL.encode(Array(SHA256.hash(data: bytes).prefix(24))).utf8)
    }

    static func isTopic(_ bytes: [UInt8]) -> Bool {
        (1...32).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

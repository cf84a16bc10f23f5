/// UUIDs that the same name always gives (RFC 9562 §5.5).
package enum UUIDv5 {
    /// - Parameters:
    ///   - namespace: 16 bytes.
    ///   - name: any text; UTF-8 counts.
    /// - Returns: the canonical lower-case text, 36 characters.
    package static func make(namespace: [UInt8], name: String) -> String {
        precondition(namespace.count == 16, "a namespace is a UUID of 16 bytes")
        var bytes = Array(Insecure.SHA1.hash(data: namespace + Array(name.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50  // version 5
        bytes[8] = bytes[8] & 0x3F | 0x80  // the variant of RFC 9562
        return text(of: bytes)
    }

    /// 16 bytes as 8-4-4-4-12 lower-case hexadecimal digits.
    package static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

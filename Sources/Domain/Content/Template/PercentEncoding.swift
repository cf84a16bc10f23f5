/// Encodes a value that becomes part of a URL (content model D-12, RFC 3986 §2.3).
enum PercentEncoding {
    /// Appends `text` with everything but `A–Z a–z 0–9 - . _ ~` encoded. The result needs no JSON escaping.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        let utf8 = text.utf8Span.span
        for index in utf8.indices {
            let byte = utf8[index]
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(HexDigits.upper(byte >> 4))
                bytes.append(HexDigits.upper(byte & 0x0F))
            }
        }
    }

    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

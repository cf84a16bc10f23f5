/// One escape inside a string (RFC 8259 §7); a pair of `\u` surrogates counts as one.
struct JSONEscape {
    /// Bytes that it takes in the text.
    let length: Int
    let scalar: Unicode.Scalar

    /// - Parameter index: where the backslash stands.
    init(reading bytes: [UInt8], at index: Int) throws(JSONFault) {
        guard index + 1 < bytes.count else { throw JSONFault(.unfinished, at: bytes.count) }
        let short: Unicode.Scalar? =
            switch bytes[index + 1] {
            case UInt8(ascii: "\""): "\""
            case UInt8(ascii: "\\"): "\\"
            case UInt8(ascii: "/"): "/"
            case UInt8(ascii: "b"): "\u{8}"
            case UInt8(ascii: "f"): "\u{C}"
            case UInt8(ascii: "n"): "\n"
            case UInt8(ascii: "r"): "\r"
            case UInt8(ascii: "t"): "\t"
            case UInt8(ascii: "u"): nil
            default: throw JSONFault(.badEscape, at: index)
            }
        if let short {
            (length, scalar) = (2, short)
            return
        }
        let unit = try Self.codeUnit(bytes, at: index)
        if let single = Unicode.Scalar(unit) {
            (length, scalar) = (6, single)
            return
        }
        guard unit < 0xDC00, index + 7 < bytes.count, bytes[index + 6] == UInt8(ascii: "\\"),
            bytes[index + 7] == UInt8(ascii: "u")
        else { throw JSONFault(.loneSurrogate, at: index) }
        let second = try Self.codeUnit(bytes, at: index + 6)
        guard (0xDC00...0xDFFF).contains(second),
            let pair = Unicode.Scalar(0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(second - 0xDC00))
        else { throw JSONFault(.loneSurrogate, at: index) }
        (length, scalar) = (12, pair)
    }

    /// Bytes that a compact writer spends on the scalar.
    var compactLength: Int {
        switch scalar {
        case "\"", "\\", "\u{8}", "\u{C}", "\n", "\r", "\t": 2
        case "\0"..<" ": 6
        default: UTF8.width(scalar)
        }
    }

    /// The four hexadecimal digits after `\u`.
    private static func codeUnit(_ bytes: [UInt8], at index: Int) throws(JSONFault) -> UInt16 {
        guard index + 6 <= bytes.count else { throw JSONFault(.unfinished, at: bytes.count) }
        var value: UInt16 = 0
        for byte in bytes[(index + 2)..<(index + 6)] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw JSONFault(.badEscape, at: index)
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }
}

/// How text must look where it is written. Text that stands in a JSON string within a JSON string is escaped twice.
package enum ByteEscaping: Sendable {
    case none
    case json
    case jsonTwice
}

/// Writes UTF-8 into JSON strings, compactly: only what RFC 8259 §7 demands is escaped (content model D-25).
package enum JSONBytes {
    /// Appends `text`, without quotes around it.
    package static func append(_ text: String, escaping: ByteEscaping, to bytes: inout [UInt8]) {
        let span = text.utf8Span.span
        if escaping == .none || isPlain(span) {
            bytes.append(contentsOf: text.utf8)
        } else {
            appendEscaped(span, twice: escaping == .jsonTwice, to: &bytes)
        }
    }

    /// Appends UTF-8, without quotes around it.
    package static func append(_ utf8: [UInt8], escaping: ByteEscaping, to bytes: inout [UInt8]) {
        if escaping == .none || isPlain(utf8.span) {
            bytes.append(contentsOf: utf8)
        } else {
            appendEscaped(utf8.span, twice: escaping == .jsonTwice, to: &bytes)
        }
    }

    /// Nothing in it needs escaping: the usual case, written by one copy.
    private static func isPlain(_ utf8: Span<UInt8>) -> Bool {
        for index in utf8.indices where needsEscape(utf8[index]) { return false }
        return true
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscaped(_ utf8: Span<UInt8>, twice: Bool, to bytes: inout [UInt8]) {
        let backslash = UInt8(ascii: "\\")
        for index in utf8.indices {
            let byte = utf8[index]
            guard needsEscape(byte) else {
                bytes.append(byte)
                continue
            }
            // Escaping `\x` once more doubles its backslash, and escapes `x` itself when that is a quote or backslash.
            bytes.append(backslash)
            if twice { bytes.append(backslash) }
            switch byte {
            case UInt8(ascii: "\""), backslash:
                if twice { bytes.append(backslash) }
                bytes.append(byte)
            case 0x08: bytes.append(UInt8(ascii: "b"))
            case 0x09: bytes.append(UInt8(ascii: "t"))
            case 0x0A: bytes.append(UInt8(ascii: "n"))
            case 0x0C: bytes.append(UInt8(ascii: "f"))
            case 0x0D: bytes.append(UInt8(ascii: "r"))
            default:
                bytes.append(contentsOf: "u00".utf8)
                bytes.append(HexDigits.lower(byte >> 4))
                bytes.append(HexDigits.lower(byte & 0x0F))
            }
        }
    }
}

/// The digits of base 16, for values 0 to 15.
enum HexDigits {
    static func lower(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
    static func upper(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

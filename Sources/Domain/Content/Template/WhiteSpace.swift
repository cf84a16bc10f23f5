/// What counts as blank: Unicode's White_Space property and nothing else (so U+200B does not).
package enum WhiteSpace {
    /// Empty, or made of white space only.
    package static func isBlank(_ text: String) -> Bool {
        let utf8 = text.utf8Span.span
        if utf8.isEmpty { return true }
        if utf8[0] < 0x80, !isASCII(utf8[0]) { return false }  // the usual case: it begins with a letter
        return text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }

    /// Holds white space anywhere.
    static func occurs(in text: String) -> Bool {
        text.unicodeScalars.contains(where: \.properties.isWhitespace)
    }

    /// One of the six ASCII characters with the property.
    static func isASCII(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

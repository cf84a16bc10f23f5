/// One row in the text format of PostgreSQL's COPY (manual, COPY, "Text Format"): columns apart by tabs, `\N` for NULL,
/// and backslash, tab, line feed and carriage return escaped.
package struct CopyTextRow: Sendable {
    private var bytes: [UInt8] = []

    package init() {}

    /// For `text`, `jsonb` and whatever else PostgreSQL reads from a text. U+0000 must not occur.
    package mutating func append(_ text: String?) {
        begin()
        guard let text else { return appendNull() }
        let utf8 = text.utf8Span.span
        if isPlain(utf8) { bytes.append(contentsOf: text.utf8) } else { appendEscaped(utf8) }
    }

    package mutating func append(_ number: Int64?) {
        begin()
        guard let number else { return appendNull() }
        bytes.append(contentsOf: String(number).utf8)
    }

    /// For `timestamptz`.
    package mutating func append(_ instant: Instant?) {
        begin()
        guard let instant else { return appendNull() }
        instant.appendRFC3339(to: &bytes)
    }

    /// For `bytea`, in hexadecimal.
    package mutating func append(_ binary: [UInt8]?) {
        begin()
        guard let binary else { return appendNull() }
        bytes.append(contentsOf: #"\\x"#.utf8)
        for byte in binary {
            bytes.append(HexDigits.lower(byte >> 4))
            bytes.append(HexDigits.lower(byte & 0x0F))
        }
    }

    /// For `text[]`: every element in double quotes, so that none is taken for NULL.
    package mutating func append(_ texts: [String]) {
        begin()
        var literal: [UInt8] = [UInt8(ascii: "{")]
        for (index, text) in texts.enumerated() {
            if index > 0 { literal.append(UInt8(ascii: ",")) }
            literal.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { literal.append(UInt8(ascii: "\\")) }
                literal.append(byte)
            }
            literal.append(UInt8(ascii: "\""))
        }
        literal.append(UInt8(ascii: "}"))
        appendEscaped(literal.span)
    }

    /// Appends the row with its line feed to `rows`, and begins the next one.
    package mutating func end(into rows: inout [UInt8]) {
        rows.append(contentsOf: bytes.dropFirst())
        rows.append(UInt8(ascii: "\n"))
        bytes.removeAll(keepingCapacity: true)
    }

    /// A tab goes before every column; `end` drops the first.
    private mutating func begin() { bytes.append(UInt8(ascii: "\t")) }

    private mutating func appendNull() { bytes.append(contentsOf: #"\N"#.utf8) }

    /// The usual case, written by one copy.
    private func isPlain(_ utf8: Span<UInt8>) -> Bool {
        for index in utf8.indices where utf8[index] < 0x20 || utf8[index] == UInt8(ascii: "\\") { return false }
        return true
    }

    private mutating func appendEscaped(_ utf8: Span<UInt8>) {
        for index in utf8.indices {
            let byte = utf8[index]
            switch byte {
            case UInt8(ascii: "\\"): bytes.append(contentsOf: #"\\"#.utf8)
            case UInt8(ascii: "\t"): bytes.append(contentsOf: #"\t"#.utf8)
            case UInt8(ascii: "\n"): bytes.append(contentsOf: #"\n"#.utf8)
            case UInt8(ascii: "\r"): bytes.append(contentsOf: #"\r"#.utf8)
            default: bytes.append(byte)
            }
        }
    }
}

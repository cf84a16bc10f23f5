/// Reads over SQL as far as it takes to find where statements end: quotes, comments and semicolons (PostgreSQL manual 4.1).
struct SQLScanner {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(_ text: String) { bytes = Array(text.utf8) }

    /// All of the text's statements. A comment alone is none.
    mutating func statements() -> [SQLStatement] {
        var statements: [SQLStatement] = []
        while let statement = nextStatement() { statements.append(statement) }
        return statements
    }

    private mutating func nextStatement() -> SQLStatement? {
        let start = position
        var content: (position: Int, line: Int)?
        while let byte = peek() {
            if byte == UInt8(ascii: ";") {
                let end = position
                advance()
                guard let content else { return nextStatement() }
                return statement(start..<end, content)
            }
            if skipComment() { continue }
            if !Self.isSpace(byte), content == nil { content = (position, line) }
            if !skipQuoted() { advance() }
        }
        return content.map { statement(start..<position, $0) }
    }

    private func statement(_ range: Range<Int>, _ content: (position: Int, line: Int)) -> SQLStatement {
        let word = bytes[content.position..<range.upperBound].prefix { Self.isWordByte($0) }
        return SQLStatement(
            text: String(decoding: bytes[range], as: UTF8.self), line: content.line,
            firstWord: String(decoding: word, as: UTF8.self).uppercased())
    }

    /// Passes `-- …` and `/* … */`, which nests. False if no comment begins here.
    private mutating func skipComment() -> Bool {
        if isAt("--") {
            while let byte = peek(), byte != UInt8(ascii: "\n") { advance() }
            return true
        }
        guard isAt("/*") else { return false }
        var depth = 0
        repeat {
            if isAt("/*") {
                depth += 1
                advance(2)
            } else if isAt("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && peek() != nil
        return true
    }

    /// Passes `'…'`, `E'…'`, `"…"` and `$tag$…$tag$`. False if none begins here.
    private mutating func skipQuoted() -> Bool {
        switch peek() {
        case UInt8(ascii: "'"):
            let isEscaped =
                position > 0 && (bytes[position - 1] | 0x20) == UInt8(ascii: "e") && !isWordByte(before: position - 1)
            skip(to: UInt8(ascii: "'"), backslashEscapes: isEscaped)
            return true
        case UInt8(ascii: "\""):
            skip(to: UInt8(ascii: "\""), backslashEscapes: false)
            return true
        case UInt8(ascii: "$"):
            return skipDollarQuoted()
        default:
            return false
        }
    }

    /// A quote that is doubled ends and begins again, which comes to the same.
    private mutating func skip(to quote: UInt8, backslashEscapes: Bool) {
        advance()
        while let byte = peek() {
            advance(backslashEscapes && byte == UInt8(ascii: "\\") ? 2 : 1)
            if byte == quote { return }
        }
    }

    private mutating func skipDollarQuoted() -> Bool {
        // `$` within a name, or `$1`, begins none.
        if isWordByte(before: position) { return false }
        var end = position + 1
        while end < bytes.count, Self.isWordByte(bytes[end]), bytes[end] != UInt8(ascii: "$") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "$") else { return false }
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position + 1]) { return false }
        let tag = bytes[position...end]
        advance(tag.count)
        while peek() != nil {
            if bytes[position...].starts(with: tag) {
                advance(tag.count)
                break
            }
            advance()
        }
        return true
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private func isAt(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

    private func isWordByte(before position: Int) -> Bool { position > 0 && Self.isWordByte(bytes[position - 1]) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Of names: letters, digits, `_`, `$` and whatever is not ASCII.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}

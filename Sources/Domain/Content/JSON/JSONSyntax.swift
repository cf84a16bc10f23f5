import FoundationEssentials

/// Finds the first place where a text is not JSON (RFC 8259), or where an object names a member twice.
///
/// `JSONDecoder` reads the values; but it tells no place, takes a comma before a closing brace, and of two members with
/// one name keeps the first where PostgreSQL keeps the last. What it would read wrongly is refused here, with its line.
struct JSONSyntax {
    struct Fault: Error, Equatable {
        /// From 1, in lines and characters.
        var line: Int
        var column: Int
        var message: String
    }

    /// Deeper files are refused, which bounds the recursion of every reader.
    static let maximumDepth = 64

    /// What a check learns besides.
    struct Outline {
        /// Of the outermost object, in the order of the text; nil = it is no object.
        var members: [(name: String, value: Range<Int>)]?
        /// Of the outermost array; nil = it is no array.
        var elements: [Range<Int>]?
        /// Some text holds U+0000, which PostgreSQL cannot store.
        var holdsNull = false
    }

    /// nil = it is JSON, with each member once.
    static func fault(in bytes: [UInt8]) -> Fault? {
        do throws(Fault) {
            _ = try outline(of: bytes)
            return nil
        } catch {
            return error
        }
    }

    static func outline(of bytes: [UInt8]) throws(Fault) -> Outline {
        guard (try? UTF8Span(validating: bytes.span)) != nil else {
            throw Fault(line: 1, column: 1, message: "The file is not UTF-8.")
        }
        return try outline(ofUTF8: bytes)
    }

    static func outline(of text: String) throws(Fault) -> Outline { try outline(ofUTF8: Array(text.utf8)) }

    private static func outline(ofUTF8 bytes: [UInt8]) throws(Fault) -> Outline {
        var syntax = JSONSyntax(bytes)
        try syntax.value(depth: 0)
        syntax.skipSpace()
        if syntax.position < bytes.count { throw syntax.fault("Something follows the end of the value.") }
        return syntax.outline
    }

    private let bytes: [UInt8]
    private var position = 0
    private var outline = Outline()

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value(depth: Int) throws(Fault) {
        guard depth < Self.maximumDepth else { throw fault("More than \(Self.maximumDepth) values within each other.") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"): try number()
        case let byte? where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte: try number()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case nil: throw fault("The file ends where a value should stand.")
        default: throw fault("No value begins like this.")
        }
    }

    private mutating func object(depth: Int) throws(Fault) {
        var names: Set<String> = []
        if depth == 0 { outline.members = [] }
        position += 1
        skipSpace()
        if take("}") { return }
        while true {
            skipSpace()
            let start = position
            guard next == UInt8(ascii: "\"") else { throw fault("A member's name in double quotes should stand here.") }
            try string()
            let name = name(start..<position)
            guard names.insert(name).inserted else {
                position = start
                throw fault("The object has this member twice.")
            }
            skipSpace()
            guard take(":") else { throw fault("A colon should stand here.") }
            skipSpace()
            let valueStart = position
            try value(depth: depth + 1)
            if depth == 0 { outline.members?.append((name, valueStart..<position)) }
            skipSpace()
            if take("}") { return }
            guard take(",") else { throw fault("A comma or a closing brace should stand here.") }
        }
    }

    /// What a name means, whichever escapes it is written with.
    private func name(_ literal: Range<Int>) -> String { Self.text(bytes[literal]) }

    /// What a literal in its quotes, which was checked, means.
    static func text(_ written: ArraySlice<UInt8>) -> String {
        if written.contains(UInt8(ascii: "\\")), let name = try? JSONDecoder().decode(String.self, from: Data(written))
        {
            return name
        }
        return String(decoding: written.dropFirst().dropLast(), as: UTF8.self)
    }

    private mutating func array(depth: Int) throws(Fault) {
        if depth == 0 { outline.elements = [] }
        position += 1
        skipSpace()
        if take("]") { return }
        while true {
            skipSpace()
            let start = position
            try value(depth: depth + 1)
            if depth == 0 { outline.elements?.append(start..<position) }
            skipSpace()
            if take("]") { return }
            guard take(",") else { throw fault("A comma or a closing bracket should stand here.") }
        }
    }

    private mutating func string() throws(Fault) {
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case 0..<0x20:
                throw fault("A text may not hold a line end or control character; write it as \\n or \\u00XX.")
            case UInt8(ascii: "\\"): try escape()
            default: position += 1
            }
        }
        throw fault("The file ends within a text.")
    }

    private mutating func escape() throws(Fault) {
        position += 1
        switch next {
        case UInt8(ascii: "u"):
            position += 1
            let unit = try codeUnit()
            if unit == 0 { outline.holdsNull = true }
            guard 0xD800...0xDFFF ~= unit else { return }
            guard unit < 0xDC00, take("\\"), take("u"), 0xDC00...0xDFFF ~= (try codeUnit()) else {
                throw fault("Half of a surrogate pair is no character.")
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        default: throw fault("No escape begins like this.")
        }
    }

    private mutating func codeUnit() throws(Fault) -> UInt32 {
        guard position + 4 <= bytes.count,
            let unit = UInt32(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
            bytes[position] != UInt8(ascii: "+"), bytes[position] != UInt8(ascii: "-")
        else { throw fault("Four hexadecimal digits should follow \\u.") }
        position += 4
        return unit
    }

    private mutating func number() throws(Fault) {
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
    }

    private mutating func digits() throws(Fault) {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        if position == start { throw fault("A digit should stand here.") }
    }

    private mutating func word(_ word: StaticString) throws(Fault) {
        for character in "\(word)".unicodeScalars where !take(character) { throw fault("Did you mean \(word)?") }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func fault(_ message: String) -> Fault {
        let lineStart = (bytes[..<position].lastIndex(of: 0x0A) ?? -1) + 1
        return Fault(
            line: bytes[..<position].count(where: { $0 == 0x0A }) + 1,
            column: String(decoding: bytes[lineStart..<position], as: UTF8.self).count + 1,
            message: message)
    }
}

/// Reads JSON text (RFC 8259) once, from left to right, without building anything.
///
/// A provider's answer must not cost more than the request that asks for it, and a general decoder costs ten times this.
/// As strict as the providers' own parsers, and a little stricter: well-formed UTF-8 only, no lone surrogate, no member
/// twice in one object, no text after the value, nesting at most `depthLimit`.
struct JSONScanner {
    /// Protocol buffers' own limit for JSON.
    static let depthLimit = 100

    let bytes: [UInt8]
    private(set) var position = 0
    /// Length of all that was read so far, had it been written compactly: no white space, and nothing escaped that need
    /// not be. The difference between two readings is the size of what lies between them.
    private(set) var compactLength = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// What comes next, white space apart; 0 at the end.
    mutating func peek() -> UInt8 {
        skipSpace()
        return position < bytes.count ? bytes[position] : 0
    }

    /// Nothing but white space may follow.
    mutating func finish() throws(JSONFault) {
        skipSpace()
        if position < bytes.count { throw fault(.trailingText) }
    }

    // MARK: Objects and arrays

    /// Steps into an object or array, whose closing byte is `closing`.
    /// - Returns: false if it is empty, and then it is left already.
    mutating func enter(_ opening: UInt8, _ closing: UInt8) throws(JSONFault) -> Bool {
        try take(opening)
        depth += 1
        if depth > Self.depthLimit { throw fault(.tooDeep) }
        guard peek() == closing else { return true }
        leave()
        return false
    }

    /// After a member or element: steps to the next one.
    /// - Returns: false if there is none, and then the object or array is left.
    mutating func another(before closing: UInt8) throws(JSONFault) -> Bool {
        let next = peek()
        if next == UInt8(ascii: ",") {
            leave(steppingOut: false)
            return true
        }
        guard next == closing else { throw fault(.unexpected) }
        leave()
        return false
    }

    mutating func enterObject() throws(JSONFault) -> Bool { try enter(UInt8(ascii: "{"), UInt8(ascii: "}")) }
    mutating func enterArray() throws(JSONFault) -> Bool { try enter(UInt8(ascii: "["), UInt8(ascii: "]")) }
    mutating func anotherMember() throws(JSONFault) -> Bool { try another(before: UInt8(ascii: "}")) }
    mutating func anotherElement() throws(JSONFault) -> Bool { try another(before: UInt8(ascii: "]")) }

    /// A member's name and the colon after it.
    mutating func key() throws(JSONFault) -> JSONText {
        let key = try string()
        try take(UInt8(ascii: ":"))
        return key
    }

    // MARK: Values

    mutating func string() throws(JSONFault) -> JSONText {
        guard peek() == UInt8(ascii: "\"") else { throw fault(.unexpected) }
        let start = position + 1
        var index = start
        var isEscaped = false
        var saved = 0  // what escapes take beyond what a compact writer would spend
        let end = bytes.count
        while index < end {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                position = index + 1
                compactLength += index - start - saved + 2
                return JSONText(start: start, end: index, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                let escape = try JSONEscape(reading: bytes, at: index)
                isEscaped = true
                saved += escape.length - escape.compactLength
                index += escape.length
            case 0..<0x20:
                throw JSONFault(.controlCharacter, at: index)
            case 0x20..<0x80:
                index += 1
            default:
                index += try UTF8Sequence.length(in: bytes, at: index)
            }
        }
        throw JSONFault(.unfinished, at: end)
    }

    /// - Returns: where the number stands. Its grammar is checked, its range is not.
    mutating func number() throws(JSONFault) -> Range<Int> {
        skipSpace()
        let start = position
        if byte() == UInt8(ascii: "-") { position += 1 }
        if byte() == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if byte() == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if byte() == UInt8(ascii: "e") || byte() == UInt8(ascii: "E") {
            position += 1
            if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        compactLength += position - start
        return start..<position
    }

    /// `true`, `false` or `null`.
    mutating func literal() throws(JSONFault) -> JSONLiteral {
        let word: JSONLiteral =
            switch peek() {
            case UInt8(ascii: "t"): .true
            case UInt8(ascii: "f"): .false
            case UInt8(ascii: "n"): .null
            default: throw fault(.unexpected)
            }
        for expected in word.rawValue.utf8 {
            guard byte() == expected else { throw fault(.unexpected) }
            position += 1
        }
        compactLength += word.rawValue.utf8.count
        return word
    }

    /// Reads any value and drops it.
    mutating func skipValue() throws(JSONFault) {
        switch peek() {
        case UInt8(ascii: "{"):
            var keys = JSONKeySet()
            guard try enterObject() else { return }
            repeat {
                try keys.insert(key(), of: self)
                try skipValue()
            } while try anotherMember()
        case UInt8(ascii: "["):
            guard try enterArray() else { return }
            repeat { try skipValue() } while try anotherElement()
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): _ = try literal()
        default: _ = try number()
        }
    }

    // MARK: Steps

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private func byte() -> UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    private mutating func take(_ expected: UInt8) throws(JSONFault) {
        guard peek() == expected else { throw fault(.unexpected) }
        position += 1
        compactLength += 1
    }

    private mutating func leave(steppingOut: Bool = true) {
        position += 1
        compactLength += 1
        if steppingOut { depth -= 1 }
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while position < bytes.count, bytes[position] >= 0x30, bytes[position] <= 0x39 { position += 1 }
        if position == start { throw fault(.unexpected) }
    }

    private func fault(_ reason: JSONFault.Reason) -> JSONFault {
        JSONFault(position < bytes.count || reason != .unexpected ? reason : .unfinished, at: position)
    }
}

/// A language tag in comparison form: `_` as `-`, ASCII lower case, old codes replaced. Made without touching the heap,
/// since every push makes one.
package struct LanguageTag: Sendable {
    /// What an author may write as a key, in characters (D-1).
    package static let maximumLength = 35

    /// Room for the longest tag, and for a script that an alias adds.
    private var bytes = InlineArray<48, UInt8>(repeating: 0)
    private(set) var count = 0
    /// Each bit marks the length of a prefix that ends where a subtag ends.
    private var ends: UInt64 = 0

    /// Reads an author's key: `^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$`, at most 35 characters.
    /// - Returns: nil where the key is malformed.
    package init?(key: String) { self.init(key.utf8Span.span) }

    /// Reads a tag as devices write it: everything from the first `.` or `@` on is cut (D-2).
    /// - Returns: nil where what is left is malformed.
    package init?(subscriber tag: String) {
        let utf8 = tag.utf8Span.span
        var end = 0
        while end < utf8.count, utf8[end] != UInt8(ascii: "."), utf8[end] != UInt8(ascii: "@") { end += 1 }
        self.init(utf8.extracting(0..<end))
    }

    private init?(_ utf8: Span<UInt8>) {
        guard utf8.count <= Self.maximumLength else { return nil }
        var start = 0
        var position = 0
        var sawSingleton = false
        while position <= utf8.count {
            if position < utf8.count, utf8[position] != UInt8(ascii: "-"), utf8[position] != UInt8(ascii: "_") {
                guard let lower = Self.lowered(utf8[position], digits: start > 0) else { return nil }
                bytes[count] = lower
                count += 1
                position += 1
                continue
            }
            let length = position - start
            guard (start == 0 ? 2 : 1)...8 ~= length else { return nil }
            sawSingleton = sawSingleton || length == 1
            if start == 0 {
                replaceLanguage(scriptFollows: Self.isScript(utf8, after: position))
            } else if !sawSingleton {
                replaceRegion(length: length)
            }
            ends |= 1 << UInt64(count)
            position += 1
            start = position
            if position <= utf8.count {
                bytes[count] = UInt8(ascii: "-")
                count += 1
            }
        }
    }

    /// Prefixes to look for, longest first (RFC 4647 §3.4): a single-letter subtag left at the end goes with the one
    /// that was dropped before it.
    func forEachPrefix(_ visit: (_ length: Int) -> Bool) {
        var rest = ends
        var isFirst = true
        while rest != 0 {
            let length = 63 - rest.leadingZeroBitCount
            rest &= ~(1 << UInt64(length))
            let shorter = rest == 0 ? -1 : 63 - rest.leadingZeroBitCount
            let isSingleton = length - shorter == 2
            if isFirst || !isSingleton, visit(length) { return }
            isFirst = false
        }
    }

    func hasPrefix(_ length: Int, equalTo other: LanguageTag) -> Bool {
        guard length == other.count else { return false }
        for index in 0..<length where bytes[index] != other.bytes[index] { return false }
        return true
    }

    /// The first `length` bytes, for people to read.
    func text(_ length: Int) -> String {
        String(decoding: (0..<length).map { bytes[$0] }, as: UTF8.self)
    }

    private static func lowered(_ byte: UInt8, digits: Bool) -> UInt8? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digits ? byte : nil
        default: nil
        }
    }

    /// Four letters stand between the separator at `position` and the next.
    private static func isScript(_ utf8: Span<UInt8>, after position: Int) -> Bool {
        guard position + 5 <= utf8.count else { return false }
        for index in position + 1...position + 4 where lowered(utf8[index], digits: false) == nil { return false }
        let end = position + 5
        return end == utf8.count || utf8[end] == UInt8(ascii: "-") || utf8[end] == UInt8(ascii: "_")
    }

    private mutating func replaceLanguage(scriptFollows: Bool) {
        guard let new = LanguageAliases.replacement(ofLanguage: bytes.span.extracting(0..<count)) else { return }
        count = 0
        append(new.language)
        guard let script = new.script, !scriptFollows else { return }
        ends |= 1 << UInt64(count)
        append([UInt8(ascii: "-")])
        append(script)
    }

    private mutating func replaceRegion(length: Int) {
        guard let new = LanguageAliases.replacement(ofRegion: bytes.span.extracting(count - length..<count)) else {
            return
        }
        count -= length
        append(new)
    }

    private mutating func append(_ more: [UInt8]) {
        for byte in more {
            bytes[count] = byte
            count += 1
        }
    }
}

extension LanguageTag: Hashable, CustomStringConvertible {
    package static func == (left: Self, right: Self) -> Bool { left.hasPrefix(left.count, equalTo: right) }

    package func hash(into hasher: inout Hasher) {
        for index in 0..<count { hasher.combine(bytes[index]) }
    }

    package var description: String { text(count) }
}

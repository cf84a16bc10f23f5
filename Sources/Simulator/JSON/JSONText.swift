/// Where a string's content stands in the text that it was read from, without its quotes.
struct JSONText: Equatable {
    let start: Int
    let end: Int
    /// Its bytes hold escapes, so they are not yet the string itself.
    let isEscaped: Bool

    var range: Range<Int> { start..<end }
}

extension JSONScanner {
    /// The string itself, in UTF-8.
    func decoded(_ text: JSONText) -> [UInt8] {
        guard text.isEscaped else { return Array(bytes[text.range]) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.end - text.start)
        var index = text.start
        while index < text.end {
            // It was read once already, so an escape cannot be malformed here.
            if bytes[index] == UInt8(ascii: "\\"), let escape = try? JSONEscape(reading: bytes, at: index) {
                decoded.append(contentsOf: String(escape.scalar).utf8)
                index += escape.length
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }

    /// As `decoded`, without a copy where none is needed.
    func content(_ text: JSONText) -> ArraySlice<UInt8> {
        text.isEscaped ? decoded(text)[...] : bytes[text.range]
    }

    func equals(_ text: JSONText, _ expected: [UInt8]) -> Bool {
        guard !text.isEscaped else { return decoded(text) == expected }
        guard text.end - text.start == expected.count else { return false }
        var index = text.start
        for byte in expected {
            guard bytes[index] == byte else { return false }
            index += 1
        }
        return true
    }

    func hash(_ text: JSONText, seed: UInt64) -> UInt64 {
        guard text.isEscaped else { return Hash64.hash(bytes, text.range, seed: seed) }
        let decoded = decoded(text)
        return Hash64.hash(decoded, decoded.indices, seed: seed)
    }
}

/// The names of one object's members, to find one that comes twice.
///
/// Two names count as equal when their 64-bit hashes are: among the thousand names that fit a message, different names
/// meet with odds of 1 in 10^13.
struct JSONKeySet {
    private static let listed = 24
    private var few: [UInt64] = []
    private var many: Set<UInt64> = []

    mutating func insert(_ key: JSONText, of scanner: JSONScanner) throws(JSONFault) {
        let hash = scanner.hash(key, seed: 0)
        if few.isEmpty { few.reserveCapacity(Self.listed) }
        if few.count < Self.listed {
            if few.contains(hash) { throw JSONFault(.duplicateKey, at: key.start) }
            few.append(hash)
        } else {
            if many.isEmpty { many = Set(few) }
            guard many.insert(hash).inserted else { throw JSONFault(.duplicateKey, at: key.start) }
        }
    }
}

/// Well-formed sequences of more than one byte (RFC 3629 §4).
enum UTF8Sequence {
    /// - Returns: 2, 3 or 4, the length of the sequence that begins at `index`.
    /// - Throws: `.badUTF8` for a stray or missing continuation, an overlong form, a surrogate or a value past U+10FFFF.
    static func length(in bytes: [UInt8], at index: Int) throws(JSONFault) -> Int {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[index] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: throw JSONFault(.badUTF8, at: index)
        }
        guard index + length <= bytes.count, second.contains(bytes[index + 1]) else {
            throw JSONFault(.badUTF8, at: index)
        }
        for following in bytes[(index + 2)..<(index + length)] where following & 0xC0 != 0x80 {
            throw JSONFault(.badUTF8, at: index)
        }
        return length
    }
}

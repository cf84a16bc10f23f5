/// Finds numbers of a JSON text that a double would change, so that a comparison with what PostgreSQL stores, which keeps
/// every digit, would silently miss.
enum ExactNumbers {
    /// Decimal digits that any double keeps (IEEE 754: `DBL_DIG`).
    private static let digits = 15

    /// Whether every number of a valid JSON text is a whole one of 64 bits, or one that a double keeps.
    static func allExact(in json: some Sequence<UInt8>) -> Bool {
        var isText = false
        var isEscaped = false
        var number: [UInt8] = []
        for byte in json {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                number.append(byte)
            default:
                if !isExact(number) { return false }
                number.removeAll(keepingCapacity: true)
                isText = byte == UInt8(ascii: "\"")
            }
        }
        return isExact(number)
    }

    private static func isExact(_ number: [UInt8]) -> Bool {
        // The e of true and false is no number.
        guard number.contains(where: { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return true }
        if Int(String(decoding: number, as: UTF8.self)) != nil { return true }
        let parts = number.split(maxSplits: 1) { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        let mantissa = parts[0].filter { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let leading = mantissa.prefix { $0 == UInt8(ascii: "0") }.count
        let trailing = mantissa.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        guard mantissa.count - leading - trailing <= digits else { return false }
        guard parts.count == 2 else { return mantissa.count <= 290 }
        guard let exponent = Int(String(decoding: parts[1], as: UTF8.self)) else { return false }
        return -290...290 ~= exponent && mantissa.count <= 15
    }
}

/// Writes JSON (RFC 8259) into one string.
struct JSONText {
    private(set) var text = ""

    /// `{"key":value,…}` with the fields in the given order.
    mutating func append(_ fields: [(key: String, value: Logger.MetadataValue)]) {
        text += "{"
        for (index, field) in fields.enumerated() {
            if index > 0 { text += "," }
            append(field.key)
            text += ":"
            append(field.value)
        }
        text += "}"
    }

    mutating func append(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let string): append(string)
        case .stringConvertible(let value) where Self.isJSONAlready(value): text += value.description
        case .stringConvertible(let value): append(value.description)
        case .dictionary(let values): append(values.sorted { $0.key < $1.key })
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                append(value)
            }
            text += "]"
        }
    }

    /// A string literal: §7 wants quotes, backslashes and everything below U+0020 escaped.
    mutating func append(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20:
                text += scalar.value < 0x10 ? "\\u000" : "\\u00"
                text += String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// Numbers that are finite, and truth values, read the same in Swift and in JSON.
    private static func isJSONAlready(_ value: any CustomStringConvertible) -> Bool {
        switch value {
        case is any BinaryInteger, is Bool: true
        case let number as Double: number.isFinite
        default: false
        }
    }
}

/// Pieces of JSON text.
enum JSONWriter {
    static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        append(text.utf8, to: &quoted)
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }

    /// Appends the content of a string, without quotes.
    static func append(_ text: some Sequence<UInt8>, to output: inout [UInt8]) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: output += Array("\\u00".utf8) + [hexDigit(byte >> 4), hexDigit(byte & 15)]
            default: output.append(byte)
            }
        }
    }

    static func appendHex(_ value: UInt64, to output: inout [UInt8]) {
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            output.append(hexDigit(UInt8(truncatingIfNeeded: value >> shift) & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

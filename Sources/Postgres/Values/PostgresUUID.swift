/// The text form of a `uuid` as a parameter. Text that is none is refused by the server, as `invalidValue`.
package struct PostgresUUID: Hashable, Sendable {
    /// As PostgreSQL prints it: lower case, 8-4-4-4-12, when it came from there.
    package var text: String

    package init(_ text: String) { self.text = text }
}

extension PostgresUUID: PostgresScalar {
    package static var oid: UInt32 { TypeOID.uuid }
    package static var arrayOID: UInt32 { 2951 }
    /// A byte too many for text that is no UUID: the server refuses that.
    package var byteCount: Int { bytes == nil ? 17 : 16 }

    package func write(to memory: UnsafeMutableRawPointer) {
        guard let bytes else {
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: 17)
            return
        }
        memory.storeBytes(of: bytes.high.bigEndian, as: UInt64.self)
        memory.storeBytes(of: bytes.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        text = String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    buffer.append(UInt8(ascii: "-"), at: &position)
                }
                buffer.append(hexDigit(bytes[index] >> 4), at: &position)
                buffer.append(hexDigit(bytes[index] & 15), at: &position)
            }
            return position
        }
    }

    /// nil when the text is not 32 hexadecimal digits, with hyphens or without.
    private var bytes: (high: UInt64, low: UInt64)? {
        var copy = text
        return copy.withUTF8 { utf8 in
            var high: UInt64 = 0
            var low: UInt64 = 0
            var count = 0
            for byte in utf8 where byte != UInt8(ascii: "-") {
                guard let digit = hexValue(byte) else { return nil }
                high = high << 4 | low >> 60
                low = low << 4 | UInt64(digit)
                count += 1
            }
            return count == 32 ? (high, low) : nil
        }
    }
}

private func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}

private func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

extension UnsafeMutableBufferPointer<UInt8> {
    fileprivate func append(_ byte: UInt8, at position: inout Int) {
        self[position] = byte
        position += 1
    }
}

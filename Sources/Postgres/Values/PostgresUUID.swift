/// The text form of a `uuid` as a parameter. Text that is none is refused by the server, as `invalidValue`.
package struct PostgresUUID: Hashable, Sendable {
    /// As PostgreSQL prints it: lower case, 8-4-4-4-12, when it came from there.
    package var text: String

    package init(_ text: String) { self.text = text }
}

extension PostgresUUID: PostgresScalar {
    package static var oid: UInt32 { TypeOID.uuid }
    package static var arrayOID: UInt32 { 2951 }
    /// No byte at all for text that is no UUID: `uuid_recv` refuses that.
    package var byteCount: Int { bytes == nil ? 0 : 16 }

    package func write(to memory: UnsafeMutableRawPointer) {
        guard let bytes else { return }
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
        let digits = text.filter { $0 != "-" }
        guard digits.utf8.count == 32, let high = UInt64(digits.prefix(16), radix: 16),
            let low = UInt64(digits.suffix(16), radix: 16), !digits.contains("+")
        else { return nil }
        return (high, low)
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

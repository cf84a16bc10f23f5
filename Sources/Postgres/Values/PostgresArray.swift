/// What an array parameter can consist of: a scalar, a scalar or NULL, or the bytes of a `bytea`.
///
/// Its requirements take the whole array, so that one dynamic call, not one per element, leads into code that the
/// compiler has specialised for the type.
package protocol PostgresArrayElement: Sendable {
    /// Of an array of these.
    static var arrayOID: UInt32 { get }
    static func parameter(of array: [Self]) -> PostgresParameter
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    package static var oid: UInt32 { Element.arrayOID }
    package var parameter: PostgresParameter { Element.parameter(of: self) }
}

extension Array: PostgresArrayElement where Element == UInt8 {}

extension PostgresScalar {
    package static func parameter(of array: [Self]) -> PostgresParameter {
        var size = ArrayHeader.size + 4 * array.count
        for element in array { size += element.byteCount }
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var memory = UnsafeMutableRawPointer(buffer.baseAddress!)
            ArrayHeader(count: array.count, hasNulls: false, elementOID: oid).write(to: &memory)
            for element in array { element.writeElement(to: &memory) }
            count = size
        }
        return PostgresParameter(bytes: bytes, oid: arrayOID)
    }

    package static func parameter(ofNullable array: [Self?]) -> PostgresParameter {
        var size = ArrayHeader.size + 4 * array.count
        for element in array { size += element?.byteCount ?? 0 }
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var memory = UnsafeMutableRawPointer(buffer.baseAddress!)
            ArrayHeader(count: array.count, hasNulls: true, elementOID: oid).write(to: &memory)
            for element in array {
                if let element {
                    element.writeElement(to: &memory)
                } else {
                    memory.storeBytes(of: Int32(-1).bigEndian, as: Int32.self)
                    memory += 4
                }
            }
            count = size
        }
        return PostgresParameter(bytes: bytes, oid: arrayOID)
    }

    /// Writes the length in four bytes, then the value, and moves on.
    @inline(__always)
    private func writeElement(to memory: inout UnsafeMutableRawPointer) {
        let count = byteCount
        memory.storeBytes(of: Int32(count).bigEndian, as: Int32.self)
        write(to: memory + 4)
        memory += 4 + count
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresScalar {
    package static var arrayOID: UInt32 { Wrapped.arrayOID }
    package static func parameter(of array: [Wrapped?]) -> PostgresParameter {
        Wrapped.parameter(ofNullable: array)
    }
}

/// Lets `[UInt8]` be a parameter: the bytes of a `bytea`, not an array of numbers. PostgreSQL has no type for one byte.
extension UInt8: PostgresArrayElement {
    package static var arrayOID: UInt32 { TypeOID.bytea }
    package static func parameter(of array: [UInt8]) -> PostgresParameter {
        PostgresParameter(bytes: array, oid: TypeOID.bytea)
    }
}

/// What stands before the elements of a one-dimensional array (`array_send` in PostgreSQL's `arrayfuncs.c`).
struct ArrayHeader {
    static let size = 20

    var count: Int
    var hasNulls: Bool
    var elementOID: UInt32

    func write(to memory: inout UnsafeMutableRawPointer) {
        // Number of dimensions, flags, type of the elements, then length and lower bound of the one dimension.
        let words = (Int32(1), Int32(hasNulls ? 1 : 0), Int32(bitPattern: elementOID), Int32(count), Int32(1))
        memory.storeBytes(of: words.0.bigEndian, toByteOffset: 0, as: Int32.self)
        memory.storeBytes(of: words.1.bigEndian, toByteOffset: 4, as: Int32.self)
        memory.storeBytes(of: words.2.bigEndian, toByteOffset: 8, as: Int32.self)
        memory.storeBytes(of: words.3.bigEndian, toByteOffset: 12, as: Int32.self)
        memory.storeBytes(of: words.4.bigEndian, toByteOffset: 16, as: Int32.self)
        memory += ArrayHeader.size
    }
}

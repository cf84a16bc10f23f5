extension PostgresRow {
    package func int16Array(_ column: Int) -> [Int16] { requiredArray(column, Int16.self) }
    package func int32Array(_ column: Int) -> [Int32] { requiredArray(column, Int32.self) }
    package func int64Array(_ column: Int) -> [Int64] { requiredArray(column, Int64.self) }
    package func boolArray(_ column: Int) -> [Bool] { requiredArray(column, Bool.self) }
    package func doubleArray(_ column: Int) -> [Double] { requiredArray(column, Double.self) }
    package func stringArray(_ column: Int) -> [String] { requiredArray(column, String.self) }
    package func bytesArray(_ column: Int) -> [[UInt8]] { requiredArray(column, [UInt8].self) }

    package func int16ArrayOrNil(_ column: Int) -> [Int16]? { optionalArray(column, Int16.self) }
    package func int32ArrayOrNil(_ column: Int) -> [Int32]? { optionalArray(column, Int32.self) }
    package func int64ArrayOrNil(_ column: Int) -> [Int64]? { optionalArray(column, Int64.self) }
    package func boolArrayOrNil(_ column: Int) -> [Bool]? { optionalArray(column, Bool.self) }
    package func doubleArrayOrNil(_ column: Int) -> [Double]? { optionalArray(column, Double.self) }
    package func stringArrayOrNil(_ column: Int) -> [String]? { optionalArray(column, String.self) }

    /// Of `text[]` whose elements may be NULL.
    package func textArray(_ column: Int) -> [String?] { array(column, of: String.self) }
    package func textArrayOrNil(_ column: Int) -> [String?]? { isNull(column) ? nil : textArray(column) }

    /// Of an array of any scalar type, whose elements may be NULL.
    package func array<Element: PostgresScalar>(_ column: Int, of type: Element.Type) -> [Element?] {
        var reader = arrayReader(column, type)
        return (0..<reader.count).map { _ in
            guard let bytes = reader.next() else { return nil }
            guard let value = Element(binary: bytes) else { preconditionFailure(mismatch(column, [Element].self)) }
            return value
        }
    }

    @inline(__always)
    private func requiredArray<Element: PostgresScalar>(_ column: Int, _ type: Element.Type) -> [Element] {
        var reader = arrayReader(column, type)
        return (0..<reader.count).map { _ in
            guard let bytes = reader.next() else { preconditionFailure("An element of it: " + unexpectedNull(column)) }
            guard let value = Element(binary: bytes) else { preconditionFailure(mismatch(column, [Element].self)) }
            return value
        }
    }

    @inline(__always)
    private func optionalArray<Element: PostgresScalar>(_ column: Int, _ type: Element.Type) -> [Element]? {
        isNull(column) ? nil : requiredArray(column, type)
    }

    private func arrayReader<Element: PostgresScalar>(_ column: Int, _ type: Element.Type) -> ArrayReader {
        guard let bytes = bytes(column) else { preconditionFailure(unexpectedNull(column)) }
        guard let reader = ArrayReader(bytes) else { preconditionFailure(mismatch(column, [Element].self)) }
        assert(TypeOID.isReadable(reader.elementOID, as: Element.oid), mismatch(column, [Element].self))
        return reader
    }
}

/// Walks over the elements of a one-dimensional array in binary format (`array_send` in PostgreSQL's `arrayfuncs.c`).
private struct ArrayReader {
    let count: Int
    let elementOID: UInt32
    private let bytes: UnsafeRawBufferPointer
    private var offset = ArrayHeader.size

    /// nil for an array of several dimensions.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 12 else { return nil }
        self.bytes = bytes
        elementOID = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        let dimensions = Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))
        guard dimensions > 0 else {
            count = 0
            return
        }
        guard dimensions == 1, bytes.count >= ArrayHeader.size else { return nil }
        count = Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: Int32.self)))
    }

    /// The bytes of the next element, nil for NULL. To be called `count` times.
    @inline(__always)
    mutating func next() -> UnsafeRawBufferPointer? {
        let length = Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        offset += 4
        guard length >= 0 else { return nil }
        defer { offset += length }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    }
}

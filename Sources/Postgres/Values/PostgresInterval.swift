/// A span as `interval` keeps it: microseconds only, no days or months, whose length depends on the calendar.
package struct PostgresInterval: Hashable, Sendable {
    package var microseconds: Int64

    /// What is finer than a microsecond is cut off.
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

extension PostgresInterval: PostgresScalar {
    package static var oid: UInt32 { TypeOID.interval }
    package static var arrayOID: UInt32 { 1187 }
    package var byteCount: Int { 16 }

    package func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: microseconds.bigEndian, as: Int64.self)
        memory.storeBytes(of: 0, toByteOffset: 8, as: Int64.self)  // days, months
    }

    /// nil for an interval with days or months.
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16, bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self) == 0 else { return nil }
        microseconds = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    }
}

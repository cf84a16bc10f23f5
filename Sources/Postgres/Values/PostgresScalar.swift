/// The `oid` of the types that have a Swift counterpart here: `pg_type.dat` of PostgreSQL, the same in every server.
enum TypeOID {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let float8: UInt32 = 701
    static let timestamptz: UInt32 = 1184
    static let interval: UInt32 = 1186
    static let bit: UInt32 = 1560
    static let varbit: UInt32 = 1562
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802

    /// Whether values of `type` have the binary format of `oid`.
    static func isReadable(_ type: UInt32, as oid: UInt32) -> Bool {
        switch oid {
        // varchar, name, json, enumerations and what a server's own types derive from text.
        case text: ![bool, bytea, int8, int2, int4, float8, timestamptz, interval, uuid, jsonb].contains(type)
        case varbit: type == varbit || type == bit
        default: type == oid
        }
    }
}

/// A value of one column: bound as a parameter, or an element of an array, in PostgreSQL's binary format (the `_send`
/// and `_recv` functions of each type).
package protocol PostgresScalar: PostgresArrayElement, PostgresEncodable {
    /// Exactly what `write` fills.
    var byteCount: Int { get }
    /// Writes `byteCount` bytes, of any alignment.
    func write(to memory: UnsafeMutableRawPointer)
    /// nil when the bytes are no value of this type.
    init?(binary bytes: UnsafeRawBufferPointer)
    /// As `parameter(of:)`, where nil is NULL.
    static func parameter(ofNullable array: [Self?]) -> PostgresParameter
}

extension PostgresScalar {
    package var parameter: PostgresParameter {
        let size = byteCount
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            if let base = buffer.baseAddress { write(to: UnsafeMutableRawPointer(base)) }
            count = size
        }
        return PostgresParameter(bytes: bytes, oid: Self.oid)
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    package static var oid: UInt32 { Wrapped.oid }
    package var parameter: PostgresParameter {
        self?.parameter ?? PostgresParameter(bytes: nil, oid: Wrapped.oid)
    }
}

/// The integers, which are big-endian and of fixed size.
package protocol PostgresInteger: PostgresScalar, FixedWidthInteger {}

extension PostgresInteger {
    package var byteCount: Int { MemoryLayout<Self>.size }
    package func write(to memory: UnsafeMutableRawPointer) { memory.storeBytes(of: bigEndian, as: Self.self) }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self.init(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}

extension Int16: PostgresInteger {
    package static var oid: UInt32 { TypeOID.int2 }
    package static var arrayOID: UInt32 { 1005 }
}

extension Int32: PostgresInteger {
    package static var oid: UInt32 { TypeOID.int4 }
    package static var arrayOID: UInt32 { 1007 }
}

extension Int64: PostgresInteger {
    package static var oid: UInt32 { TypeOID.int8 }
    package static var arrayOID: UInt32 { 1016 }
}

/// For counts and limits of the program: a `bigint`.
extension Int: PostgresInteger {
    package static var oid: UInt32 { TypeOID.int8 }
    package static var arrayOID: UInt32 { 1016 }
}

extension Bool: PostgresScalar {
    package static var oid: UInt32 { TypeOID.bool }
    package static var arrayOID: UInt32 { 1000 }
    package var byteCount: Int { 1 }
    package func write(to memory: UnsafeMutableRawPointer) { memory.storeBytes(of: self ? 1 : 0, as: UInt8.self) }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 1 else { return nil }
        self = bytes[0] != 0
    }
}

extension Double: PostgresScalar {
    package static var oid: UInt32 { TypeOID.float8 }
    package static var arrayOID: UInt32 { 1022 }
    package var byteCount: Int { 8 }
    package func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: bitPattern.bigEndian, as: UInt64.self)
    }
    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 8 else { return nil }
        self.init(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }
}

/// `text`. U+0000 cannot be stored there: the server refuses it as `invalidValue`.
extension String: PostgresScalar {
    package static var oid: UInt32 { TypeOID.text }
    package static var arrayOID: UInt32 { 1009 }
    package var byteCount: Int { utf8.count }
    package func write(to memory: UnsafeMutableRawPointer) {
        var copy = self
        copy.withUTF8 { utf8 in
            guard let base = utf8.baseAddress else { return }
            memory.copyMemory(from: base, byteCount: utf8.count)
        }
    }
    package init?(binary bytes: UnsafeRawBufferPointer) { self.init(decoding: bytes, as: UTF8.self) }
}

/// `bytea`.
extension Array: PostgresScalar where Element == UInt8 {
    package static var arrayOID: UInt32 { 1001 }
    package var byteCount: Int { count }
    package func write(to memory: UnsafeMutableRawPointer) {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            memory.copyMemory(from: base, byteCount: bytes.count)
        }
    }
    package init?(binary bytes: UnsafeRawBufferPointer) { self.init(bytes) }
}

import CLibPQ

/// One row. Columns are read by position, from 0, in the order in which the statement lists them.
///
/// The type asked for must be the column's: reading another, or NULL where no `…OrNil` was asked, is a mistake in the
/// program, which stops there rather than go on with a wrong value. Types are checked in debug builds, sizes always.
package struct PostgresRow: Sendable {
    let rows: PostgresRows
    let index: Int32

    package func isNull(_ column: Int) -> Bool { PQgetisnull(rows.result, index, Int32(column)) == 1 }

    /// The bytes of a value, valid while `rows` lives; nil for NULL.
    @inline(__always)
    func bytes(_ column: Int) -> UnsafeRawBufferPointer? {
        let column = Int32(column)
        let count = Int(PQgetlength(rows.result, index, column))
        // Only an empty value needs the question: NULL has length 0.
        if count == 0, PQgetisnull(rows.result, index, column) == 1 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(rows.result, index, column), count: count)
    }

    @inline(__always)
    func optional<Value: PostgresScalar>(_ column: Int, _: Value.Type) -> Value? {
        guard let bytes = bytes(column) else { return nil }
        assert(isReadable(column, as: Value.oid), mismatch(column, Value.self))
        guard let value = Value(binary: bytes) else { preconditionFailure(mismatch(column, Value.self)) }
        return value
    }

    @inline(__always)
    func required<Value: PostgresScalar>(_ column: Int, _: Value.Type) -> Value {
        guard let value = optional(column, Value.self) else { preconditionFailure(unexpectedNull(column)) }
        return value
    }

    func mismatch(_ column: Int, _ type: Any.Type) -> String {
        "Column \(column) (\(name(column))) has type \(PQftype(rows.result, Int32(column))), which is no \(type)."
    }

    func unexpectedNull(_ column: Int) -> String { "Column \(column) (\(name(column))) is NULL." }

    private func name(_ column: Int) -> String {
        PQfname(rows.result, Int32(column)).map { String(cString: $0) } ?? "out of range"
    }

    func isReadable(_ column: Int, as oid: UInt32) -> Bool {
        TypeOID.isReadable(PQftype(rows.result, Int32(column)), as: oid)
    }
}

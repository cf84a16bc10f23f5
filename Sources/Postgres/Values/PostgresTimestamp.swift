/// An instant as `timestamptz` keeps it.
package struct PostgresTimestamp: Hashable, Sendable {
    /// Since 1970-01-01 00:00 UTC. `Int64.max` is `infinity`, `Int64.min` is `-infinity`.
    package var microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }
}

extension PostgresTimestamp: PostgresScalar {
    /// From 1970 to 2000, where PostgreSQL counts from.
    private static let epoch: Int64 = 946_684_800_000_000

    package static var oid: UInt32 { TypeOID.timestamptz }
    package static var arrayOID: UInt32 { 1185 }
    package var byteCount: Int { 8 }

    package func write(to memory: UnsafeMutableRawPointer) {
        let isInfinite = microseconds == .max || microseconds == .min
        let value = isInfinite ? microseconds : microseconds &- Self.epoch
        memory.storeBytes(of: value.bigEndian, as: Int64.self)
    }

    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard let value = Int64(binary: bytes) else { return nil }
        let isInfinite = value == .max || value == .min
        microseconds = isInfinite ? value : value &+ Self.epoch
    }
}

/// JSON text as a `jsonb` parameter. The server checks it: what is no JSON is refused, as `invalidValue`.
package struct PostgresJSON: Hashable, Sendable {
    package var text: String

    package init(_ text: String) { self.text = text }
}

extension PostgresJSON: PostgresScalar {
    /// Of the binary format, which is this byte and then text (`jsonb_recv`).
    private static let version: UInt8 = 1

    package static var oid: UInt32 { TypeOID.jsonb }
    package static var arrayOID: UInt32 { 3807 }
    package var byteCount: Int { 1 + text.utf8.count }

    package func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: Self.version, as: UInt8.self)
        text.write(to: memory + 1)
    }

    package init?(binary bytes: UnsafeRawBufferPointer) {
        guard bytes.first == Self.version else { return nil }
        text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    }
}

/// A string of bits as `bit varying` keeps it; a `bit(n)` column takes it too.
package struct PostgresBits: Hashable, Sendable {
    /// The first bit is the highest of the first byte. The unused bits of the last byte are zero in what the server gives.
    package var bytes: [UInt8]
    /// In bits.
    package var count: Int

    /// - Parameter bytes: as many as `count` bits need, no more.
    package init(bytes: [UInt8], count: Int) {
        self.bytes = bytes
        self.count = count
    }
}

extension PostgresBits: PostgresScalar {
    package static var oid: UInt32 { TypeOID.varbit }
    package static var arrayOID: UInt32 { 1563 }
    package var byteCount: Int { 4 + bytes.count }

    package func write(to memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: Int32(clamping: count).bigEndian, as: Int32.self)
        bytes.write(to: memory + 4)
    }

    package init?(binary data: UnsafeRawBufferPointer) {
        guard data.count >= 4 else { return nil }
        count = Int(Int32(bigEndian: data.loadUnaligned(as: Int32.self)))
        guard data.count == 4 + (count + 7) / 8 else { return nil }
        bytes = [UInt8](data[4...])
    }
}

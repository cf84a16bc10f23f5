import COpenSSL

/// Bytes from OpenSSL's generator, which the operating system seeds.
package enum SecureRandom {
    /// - Throws: `.library` when the generator is not seeded; nothing secret may be made then.
    package static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard RAND_bytes(&bytes, Int32(count)) == 1 else { throw .fromLibrary(while: "drawing random bytes") }
        return bytes
    }
}

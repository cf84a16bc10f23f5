import COpenSSL

/// A digest of OpenSSL's, for the generic types that are named for it (`HMAC<SHA256>`).
package protocol HashFunction {
    static var byteCount: Int { get }
    /// OpenSSL's name.
    static var name: String { get }
    /// Fetched once: a fetch per call costs more than hashing a short text.
    static var algorithm: OpaquePointer? { get }
}

extension HashFunction {
    package static func hash(data: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        // It fails only when memory is out or the algorithm is missing; then nothing that follows could be trusted.
        precondition(EVP_Digest(data, data.count, &digest, nil, algorithm, nil) == 1, "\(name) is not available")
        return digest
    }
}

/// FIPS 180-4.
package enum SHA256: HashFunction {
    package static let byteCount = 32
    package static let name = "SHA256"
    // Immutable once fetched, never freed.
    package nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA256", nil)
}

/// Algorithms that a format still names, although they no longer resist attack.
package enum Insecure {
    /// For UUIDs of version 5 (RFC 9562 §5.5) only.
    package enum SHA1: HashFunction {
        package static let byteCount = 20
        package static let name = "SHA1"
        package nonisolated(unsafe) static let algorithm: OpaquePointer? = EVP_MD_fetch(nil, "SHA1", nil)
    }
}

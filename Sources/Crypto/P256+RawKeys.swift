import COpenSSL

extension P256.Signing.PrivateKey {
    /// - Parameter rawRepresentation: 32 bytes, big-endian, from 1 to the order of the curve less 1.
    package init(rawRepresentation: [UInt8]) throws(CryptoError) {
        guard try CurveArithmetic().takeKey(rawRepresentation) else {
            throw CryptoError(.malformedKey, "a P-256 private key has 32 bytes and is below the order of the curve")
        }
        // ECPrivateKey of RFC 5915 without the public part, which OpenSSL computes as it reads.
        let prefix: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
        let curve: [UInt8] = [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        var encoded = prefix + rawRepresentation + curve
        defer { OPENSSL_cleanse(&encoded, encoded.count) }
        let key = encoded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &cursor, bytes.count)
        }
        guard let key else { throw .fromLibrary(.malformedKey, while: "no P-256 private key") }
        handle = KeyHandle(adopting: key)
    }
}

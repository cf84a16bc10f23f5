import COpenSSL

/// OpenSSL signs in DER (RFC 3279 §2.2.3), JOSE wants r ‖ s.
extension P256.Signing.ECDSASignature {
    init(derRepresentation: [UInt8]) throws(CryptoError) {
        var raw = [UInt8](repeating: 0, count: 64)
        let read = derRepresentation.withUnsafeBufferPointer { encoded in
            var cursor = encoded.baseAddress
            guard let signature = d2i_ECDSA_SIG(nil, &cursor, encoded.count) else { return false }
            defer { ECDSA_SIG_free(signature) }
            return raw.withUnsafeMutableBufferPointer { raw in
                BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress?.advanced(by: 32), 32) == 32
            }
        }
        guard read else { throw .fromLibrary(while: "reading a signature") }
        try self.init(rawRepresentation: raw)
    }

    /// nil only when memory is out.
    var derRepresentation: [UInt8]? {
        guard let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = rawRepresentation.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        let s = rawRepresentation.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress?.advanced(by: 32), 32, nil) }
        // It owns both numbers from here on.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var encoded = [UInt8](repeating: 0, count: 80)
        let length = encoded.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return i2d_ECDSA_SIG(signature, &cursor)
        }
        return length > 0 ? Array(encoded.prefix(Int(length))) : nil
    }
}

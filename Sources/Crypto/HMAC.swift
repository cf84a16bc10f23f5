import COpenSSL

/// RFC 2104.
package enum HMAC<Hash: HashFunction> {
    package static func authenticationCode(for data: [UInt8], using key: SymmetricKey) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Hash.byteCount)
        let made = key.withUnsafeBytes { secret in
            EVP_Q_mac(
                nil, "HMAC", nil, Hash.name, nil, secret.baseAddress, secret.count, data, data.count, &code, code.count,
                nil)
        }
        precondition(made != nil, "HMAC with \(Hash.name) is not available")
        return code
    }
}

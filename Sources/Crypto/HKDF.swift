import COpenSSL

/// Key derivation from a secret that need not be uniform (RFC 5869).
package enum HKDF<Hash: HashFunction> {
    /// Extract and expand.
    /// - Parameter outputByteCount: at most 255 digests' worth.
    /// - Throws: `.invalidLength` past that.
    package static func deriveKey(
        inputKeyMaterial: SymmetricKey, salt: [UInt8] = [], info: [UInt8] = [], outputByteCount: Int
    ) throws(CryptoError) -> SymmetricKey {
        guard outputByteCount > 0, outputByteCount <= 255 * Hash.byteCount else {
            throw CryptoError(.invalidLength, "HKDF yields 1 to \(255 * Hash.byteCount) bytes")
        }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "HKDF", nil) else {
            throw .fromLibrary(while: "opening HKDF")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: outputByteCount)
        defer { OPENSSL_cleanse(&output, output.count) }
        var written = outputByteCount
        let derived = inputKeyMaterial.withUnsafeBytes { secret in
            EVP_PKEY_derive_init(context) == 1
                && EVP_PKEY_CTX_set_hkdf_md(context, Hash.algorithm) == 1
                && EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1
                && EVP_PKEY_CTX_set1_hkdf_key(
                    context, secret.bindMemory(to: UInt8.self).baseAddress, Int32(secret.count)) == 1
                && EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1
                && EVP_PKEY_derive(context, &output, &written) == 1
        }
        guard derived, written == outputByteCount else { throw .fromLibrary(while: "deriving a key") }
        return SymmetricKey(data: output)
    }
}

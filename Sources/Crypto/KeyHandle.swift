import COpenSSL

/// Owner of an `EVP_PKEY`. `@unchecked`: the key is never changed once it is set up, and OpenSSL lets many threads sign
/// and verify with one key, each in a context of its own.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// PKCS#8, or the older form of its algorithm. An encrypted key is refused rather than asked for at a terminal.
    static func privateKey(pem: String) throws(CryptoError) -> KeyHandle {
        let text = Array(pem.utf8)
        guard let source = BIO_new_mem_buf(text, Int32(text.count)) else { throw .fromLibrary(while: "reading PEM") }
        defer { BIO_free(source) }
        // `text` stays alive until here: the BIO reads from it without copying.
        let key = withExtendedLifetime(text) { PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil) }
        guard let key else { throw .fromLibrary(.malformedKey, while: "no unencrypted PEM private key") }
        return KeyHandle(adopting: key)
    }

    /// SubjectPublicKeyInfo.
    static func publicKey(pem: String) throws(CryptoError) -> KeyHandle {
        let text = Array(pem.utf8)
        guard let source = BIO_new_mem_buf(text, Int32(text.count)) else { throw .fromLibrary(while: "reading PEM") }
        defer { BIO_free(source) }
        let key = withExtendedLifetime(text) { PEM_read_bio_PUBKEY(source, nil, { _, _, _, _ in -1 }, nil) }
        guard let key else { throw .fromLibrary(.malformedKey, while: "no PEM public key") }
        return KeyHandle(adopting: key)
    }

    var publicPEM: String {
        get throws(CryptoError) { try PEMText.write { sink in PEM_write_bio_PUBKEY(sink, pointer) } }
    }

    /// Unencrypted PKCS#8.
    var privatePEM: String {
        get throws(CryptoError) {
            try PEMText.write { sink in PEM_write_bio_PrivateKey(sink, pointer, nil, nil, 0, nil, nil) }
        }
    }

    func isA(_ algorithm: String) -> Bool { EVP_PKEY_is_a(pointer, algorithm) == 1 }

    /// With SHA-256, in the algorithm's own encoding: DER for ECDSA, the modulus' length for RSA (PKCS#1 v1.5).
    func sign(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw .fromLibrary(while: "opening a signature") }
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, SHA256.algorithm, nil, pointer) == 1,
            EVP_DigestSign(context, nil, &length, data, data.count) == 1
        else { throw .fromLibrary(while: "signing") }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, data, data.count) == 1 else {
            throw .fromLibrary(while: "signing")
        }
        signature.removeLast(signature.count - length)
        return signature
    }

    func verifies(_ signature: [UInt8], of data: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit(context, nil, SHA256.algorithm, nil, pointer) == 1
            && EVP_DigestVerify(context, signature, signature.count, data, data.count) == 1
    }

    /// A new key pair: `group` names the curve of an EC key, `bits` the modulus of an RSA key.
    static func generate(_ algorithm: String, group: String? = nil, bits: Int32 = 0) throws(CryptoError) -> KeyHandle {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else {
            throw .fromLibrary(while: "opening key generation")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            group.map({ EVP_PKEY_CTX_set_group_name(context, $0) == 1 }) ?? true,
            bits == 0 || EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { throw .fromLibrary(while: "making a key pair") }
        return KeyHandle(adopting: key)
    }
}

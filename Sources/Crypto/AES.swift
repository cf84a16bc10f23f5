import COpenSSL

package enum AES {
    /// Authenticated encryption (NIST SP 800-38D) with a nonce of 96 bits and a tag of 128.
    package enum GCM {
        package static let nonceByteCount = 12
        package static let tagByteCount = 16

        /// Nonce, ciphertext and tag of one message.
        package struct SealedBox: Sendable, Equatable {
            package let nonce: [UInt8]
            package let ciphertext: [UInt8]
            package let tag: [UInt8]

            package init(nonce: [UInt8], ciphertext: [UInt8], tag: [UInt8]) throws(CryptoError) {
                guard nonce.count == GCM.nonceByteCount, tag.count == GCM.tagByteCount else {
                    throw CryptoError(.invalidLength, "a nonce has 12 bytes and a tag 16")
                }
                self.nonce = nonce
                self.ciphertext = ciphertext
                self.tag = tag
            }

            /// From nonce ‖ ciphertext ‖ tag, as `combined` gives it.
            package init(combined: [UInt8]) throws(CryptoError) {
                guard combined.count >= GCM.nonceByteCount + GCM.tagByteCount else {
                    throw CryptoError(.invalidLength, "a sealed text has at least 28 bytes")
                }
                nonce = Array(combined.prefix(GCM.nonceByteCount))
                ciphertext = Array(combined.dropFirst(GCM.nonceByteCount).dropLast(GCM.tagByteCount))
                tag = Array(combined.suffix(GCM.tagByteCount))
            }

            package var combined: [UInt8] { nonce + ciphertext + tag }
        }

        /// - Parameters:
        ///   - key: 16 or 32 bytes.
        ///   - nonce: 12 bytes, never twice under one key; nil draws one at random.
        ///   - authenticating: bound to the message, not carried in it.
        package static func seal(
            _ message: [UInt8], using key: SymmetricKey, nonce: [UInt8]? = nil, authenticating: [UInt8] = []
        ) throws(CryptoError) -> SealedBox {
            let iv = if let nonce { nonce } else { try SecureRandom.bytes(nonceByteCount) }
            let context = try CipherContext()
            try context.begin(key: key, nonce: iv, encrypting: true)
            let ciphertext = try context.update(message, authenticating: authenticating)
            guard context.finish() else { throw .fromLibrary(while: "sealing") }
            return try SealedBox(nonce: iv, ciphertext: ciphertext, tag: context.tag())
        }

        /// - Throws: `.authenticationFailed` when the box, the key or the bound text is not the one it was sealed with.
        package static func open(
            _ box: SealedBox, using key: SymmetricKey, authenticating: [UInt8] = []
        ) throws(CryptoError) -> [UInt8] {
            let context = try CipherContext()
            try context.begin(key: key, nonce: box.nonce, encrypting: false)
            let message = try context.update(box.ciphertext, authenticating: authenticating)
            guard context.setTag(box.tag), context.finish() else {
                ERR_clear_error()
                throw CryptoError(.authenticationFailed, "the sealed text does not belong to this key")
            }
            return message
        }
    }
}

/// Sole owner of an `EVP_CIPHER_CTX` for one message.
private struct CipherContext: ~Copyable {
    private let pointer: OpaquePointer

    // Immutable once fetched, never freed.
    private nonisolated(unsafe) static let aes128 = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)
    private nonisolated(unsafe) static let aes256 = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)

    init() throws(CryptoError) {
        guard let pointer = EVP_CIPHER_CTX_new() else { throw .fromLibrary(while: "opening a cipher") }
        self.pointer = pointer
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }

    borrowing func begin(key: SymmetricKey, nonce: [UInt8], encrypting: Bool) throws(CryptoError) {
        guard key.count == 16 || key.count == 32 else {
            throw CryptoError(.invalidLength, "an AES key has 16 or 32 bytes")
        }
        guard nonce.count == AES.GCM.nonceByteCount else { throw CryptoError(.invalidLength, "a nonce has 12 bytes") }
        let begun = key.withUnsafeBytes { secret in
            EVP_CipherInit_ex2(
                pointer, key.count == 16 ? Self.aes128 : Self.aes256, secret.bindMemory(to: UInt8.self).baseAddress,
                nonce, encrypting ? 1 : 0, nil)
        }
        guard begun == 1 else { throw .fromLibrary(while: "setting up AES-GCM") }
    }

    borrowing func update(_ input: [UInt8], authenticating: [UInt8]) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: input.count)
        var written: Int32 = 0
        if !authenticating.isEmpty {
            guard EVP_CipherUpdate(pointer, nil, &written, authenticating, Int32(authenticating.count)) == 1 else {
                throw .fromLibrary(while: "binding the authenticated text")
            }
        }
        guard !input.isEmpty else { return [] }
        guard EVP_CipherUpdate(pointer, &output, &written, input, Int32(input.count)) == 1 else {
            throw .fromLibrary(while: "running AES-GCM")
        }
        return output
    }

    /// In GCM it writes nothing; when opening it compares the tag.
    borrowing func finish() -> Bool {
        var nothing = [UInt8](repeating: 0, count: 16)
        var written: Int32 = 0
        return EVP_CipherFinal_ex(pointer, &nothing, &written) == 1
    }

    borrowing func tag() throws(CryptoError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: AES.GCM.tagByteCount)
        guard EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1 else {
            throw .fromLibrary(while: "reading the tag")
        }
        return tag
    }

    borrowing func setTag(_ tag: [UInt8]) -> Bool {
        var tag = tag
        return EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
    }
}

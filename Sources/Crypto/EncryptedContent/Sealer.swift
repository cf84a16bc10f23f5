import COpenSSL

extension EncryptedContent {
    /// Seals messages one after the other, each under keys of its own that nobody keeps.
    ///
    /// `@unchecked Sendable`: its owner's lock lets one thread in at a time; the contexts inside are used again for each
    /// message, which saves two thirds of the work.
    package final class Sealer: @unchecked Sendable {
        private let curve: CurveArithmetic
        private let derivation: KeyDerivation
        private let cipher: OpaquePointer
        private var random: [UInt8] = []
        private var shared = [UInt8](repeating: 0, count: 32)
        private var inputKey = [UInt8](repeating: 0, count: 32)
        private var senderKey = [UInt8](repeating: 0, count: 65)
        private var keys = KeyDerivation.ContentKeys()

        // Immutable once fetched, never freed.
        private nonisolated(unsafe) static let algorithm = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)

        package init() throws(CryptoError) {
            curve = try CurveArithmetic()
            derivation = try KeyDerivation()
            guard let cipher = EVP_CIPHER_CTX_new() else { throw .fromLibrary(while: "opening a cipher") }
            self.cipher = cipher
            guard EVP_EncryptInit_ex2(cipher, Self.algorithm, nil, nil, nil) == 1 else {
                EVP_CIPHER_CTX_free(cipher)
                throw .fromLibrary(while: "setting up AES-GCM")
            }
        }

        deinit {
            wipe()
            EVP_CIPHER_CTX_free(cipher)
        }

        /// One record for one recipient (RFC 8291 §3.4 and §4).
        /// - Parameters:
        ///   - padding: zero bytes after the delimiter.
        ///   - recordSize: at least what the record takes: plaintext, delimiter, padding and tag.
        /// - Returns: header ‖ ciphertext ‖ tag: `overheadByteCount` and the padding more than `plaintext`.
        /// - Throws: `.malformedKey` when the recipient's key is no point of the curve.
        package func seal(
            _ plaintext: [UInt8], for recipient: Recipient, padding: Int = 0, recordSize: Int = 4096
        ) throws(CryptoError) -> [UInt8] {
            try seal(
                plaintext, for: recipient, senderKey: nil, salt: try nextSalt(), padding: padding,
                recordSize: recordSize)
        }

        /// As `seal`, with the draws given: only a vector of the RFC has any.
        func seal(
            _ plaintext: [UInt8], for recipient: Recipient, senderKey private: [UInt8]?, salt: [UInt8], padding: Int,
            recordSize: Int
        ) throws(CryptoError) -> [UInt8] {
            defer { wipe() }
            guard curve.takeKey(`private`), curve.publicKey(into: &senderKey) else {
                throw .fromLibrary(while: "making a key pair")
            }
            guard curve.sharedSecret(with: recipient.publicKey, into: &shared) else {
                throw .fromLibrary(.malformedKey, while: "not a point on P-256")
            }
            guard
                derivation.inputKey(shared: shared, recipient: recipient, sender: senderKey, into: &inputKey)
            else { throw .fromLibrary(while: "deriving a key") }
            return try record(plaintext, salt: salt, keyID: senderKey, padding: padding, recordSize: recordSize)
        }

        /// One record under a key that both sides know (RFC 8188 §3.1).
        func seal(
            _ plaintext: [UInt8], inputKey: [UInt8], salt: [UInt8], keyID: [UInt8], recordSize: Int
        ) throws(CryptoError) -> [UInt8] {
            defer { wipe() }
            self.inputKey = inputKey
            return try record(plaintext, salt: salt, keyID: keyID, padding: 0, recordSize: recordSize)
        }

        private func record(
            _ plaintext: [UInt8], salt: [UInt8], keyID: [UInt8], padding: Int, recordSize: Int
        ) throws(CryptoError) -> [UInt8] {
            let length = plaintext.count + 1 + padding
            guard padding >= 0, length + EncryptedContent.tagByteCount <= recordSize,
                let size = UInt32(exactly: recordSize)
            else { throw CryptoError(.invalidLength, "the record is larger than its size") }
            guard derivation.contentKeys(salt: salt, inputKey: inputKey, into: &keys) else {
                throw .fromLibrary(while: "deriving a key")
            }
            let header = 21 + keyID.count
            var failed = false
            let body = [UInt8](unsafeUninitializedCapacity: header + length + EncryptedContent.tagByteCount) {
                buffer, count in
                _ = buffer.initialize(fromContentsOf: salt)
                for place in 0..<4 {
                    buffer.initializeElement(at: 16 + place, to: UInt8(truncatingIfNeeded: size >> (24 - 8 * place)))
                }
                buffer.initializeElement(at: 20, to: UInt8(truncatingIfNeeded: keyID.count))
                _ = buffer[21...].initialize(fromContentsOf: keyID)
                _ = buffer[header...].initialize(fromContentsOf: plaintext)
                buffer[(header + plaintext.count)...].initialize(repeating: 0)
                buffer[header + plaintext.count] = 2
                count = buffer.count
                failed = !encrypt(buffer, from: header, length)
            }
            if failed { throw .fromLibrary(while: "running AES-GCM") }
            return body
        }

        /// In place; the tag goes behind.
        private func encrypt(_ buffer: UnsafeMutableBufferPointer<UInt8>, from start: Int, _ length: Int) -> Bool {
            guard let text = buffer.baseAddress?.advanced(by: start) else { return false }
            var written: Int32 = 0
            return EVP_EncryptInit_ex2(cipher, nil, keys.key, keys.nonce, nil) == 1
                && EVP_EncryptUpdate(cipher, text, &written, text, Int32(length)) == 1 && Int(written) == length
                && EVP_EncryptFinal_ex(cipher, text + length, &written) == 1
                && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), text + length) == 1
        }

        /// Salts are public: they are drawn for many messages at once.
        private func nextSalt() throws(CryptoError) -> [UInt8] {
            if random.count < saltByteCount { random = try SecureRandom.bytes(64 * saltByteCount) }
            defer { random.removeLast(saltByteCount) }
            return Array(random.suffix(saltByteCount))
        }

        private func wipe() {
            OPENSSL_cleanse(&shared, shared.count)
            OPENSSL_cleanse(&inputKey, inputKey.count)
            OPENSSL_cleanse(&keys.key, keys.key.count)
            OPENSSL_cleanse(&keys.nonce, keys.nonce.count)
        }
    }
}

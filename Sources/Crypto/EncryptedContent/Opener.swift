import COpenSSL

extension EncryptedContent {
    /// Opens what was sealed for one recipient, as a browser does. One thread at a time.
    package final class Opener {
        /// The recipient's private key: 32 bytes.
        private let privateKey: [UInt8]
        private let recipient: Recipient
        private let curve: CurveArithmetic
        private let derivation: KeyDerivation

        /// - Parameters:
        ///   - privateKey: 32 bytes.
        ///   - secret: `auth`, 16 bytes.
        package init(privateKey: [UInt8], secret: [UInt8]) throws(CryptoError) {
            curve = try CurveArithmetic()
            derivation = try KeyDerivation()
            var point = [UInt8](repeating: 0, count: pointByteCount)
            guard curve.takeKey(privateKey), curve.publicKey(into: &point) else {
                ERR_clear_error()
                throw CryptoError(.malformedKey, "no P-256 private key")
            }
            self.privateKey = privateKey
            recipient = try Recipient(publicKey: point, secret: secret)
        }

        /// 65 bytes: what the recipient gives to senders as `p256dh`.
        package var publicKey: [UInt8] { recipient.publicKey }

        /// One record, the only form of a push message (RFC 8291 §4).
        package func open(_ body: [UInt8]) throws(Refusal) -> [UInt8] {
            let parts = try Parts(body)
            guard parts.keyID.count == pointByteCount else { throw .keyIDLength }
            if parts.records.count > parts.recordSize { throw .moreThanOneRecord }
            // Delimiter and tag at least.
            guard parts.records.count > tagByteCount else { throw .recordShort }
            defer { ERR_clear_error() }
            var shared = [UInt8](repeating: 0, count: 32)
            var inputKey = shared
            let sender = Array(parts.keyID)
            guard curve.takeKey(privateKey) else { throw .library }
            guard sender[0] == 4, curve.sharedSecret(with: sender, into: &shared) else { throw .badSenderKey }
            guard derivation.inputKey(shared: shared, recipient: recipient, sender: sender, into: &inputKey) else {
                throw .library
            }
            return try EncryptedContent.open(parts, inputKey: inputKey, derivation)
        }
    }

    /// Any number of records under a key that both sides know (RFC 8188 §3).
    package static func open(_ body: [UInt8], inputKey: [UInt8]) throws(Refusal) -> [UInt8] {
        let derivation: KeyDerivation
        do { derivation = try KeyDerivation() } catch { throw .library }
        return try open(Parts(body), inputKey: inputKey, derivation)
    }

    private static func open(
        _ parts: Parts, inputKey: [UInt8], _ derivation: KeyDerivation
    ) throws(Refusal) -> [UInt8] {
        var keys = KeyDerivation.ContentKeys()
        guard derivation.contentKeys(salt: Array(parts.salt), inputKey: inputKey, into: &keys) else { throw .library }
        let key = SymmetricKey(data: Array(keys.key.prefix(16)))
        let nonce = Array(keys.nonce.prefix(12))
        var plaintext: [UInt8] = []
        var rest = parts.records
        var number: UInt64 = 0
        repeat {
            let record = rest.prefix(parts.recordSize)
            rest = rest.dropFirst(parts.recordSize)
            guard record.count > tagByteCount else { throw .recordShort }
            let padded: [UInt8]
            do {
                let box = try AES.GCM.SealedBox(
                    nonce: self.nonce(nonce, of: number), ciphertext: Array(record.dropLast(tagByteCount)),
                    tag: Array(record.suffix(tagByteCount)))
                padded = try AES.GCM.open(box, using: key)
            } catch { throw .tag }
            guard let end = padded.lastIndex(where: { $0 != 0 }) else { throw .noDelimiter }
            // The last record ends in 2, all others in 1 (RFC 8188 §2).
            guard padded[end] == (rest.isEmpty ? 2 : 1) else { throw .delimiter }
            plaintext += padded[..<end]
            number += 1
        } while !rest.isEmpty
        return plaintext
    }

    /// NONCE XOR the record's number (RFC 8188 §2.3).
    private static func nonce(_ first: [UInt8], of record: UInt64) -> [UInt8] {
        var nonce = first
        for place in 0..<8 { nonce[11 - place] ^= UInt8(truncatingIfNeeded: record >> UInt64(8 * place)) }
        return nonce
    }
}

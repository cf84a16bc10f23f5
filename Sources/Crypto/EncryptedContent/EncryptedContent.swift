/// The content coding `aes128gcm` (RFC 8188), and how a sender and a browser come to share its key (RFC 8291).
package enum EncryptedContent {
    /// Salt, record size, length of the key id, and the sender's public key as key id.
    package static let headerByteCount = 86
    /// What one record adds to its plaintext: header, delimiter and tag.
    package static let overheadByteCount = 103
    static let saltByteCount = 16
    static let tagByteCount = 16
    static let pointByteCount = 65
    /// The smallest record size that the coding has (RFC 8188 §2.1).
    static let smallestRecord = 18

    /// What a browser gave away of itself (RFC 8291 §3).
    package struct Recipient: Sendable, CustomStringConvertible {
        let publicKey: [UInt8]
        let secret: [UInt8]

        /// - Parameters:
        ///   - publicKey: `p256dh`, 65 bytes: 4 ‖ x ‖ y. That it lies on the curve is found out when something is sealed.
        ///   - secret: `auth`, 16 bytes.
        package init(publicKey: [UInt8], secret: [UInt8]) throws(CryptoError) {
            guard publicKey.count == pointByteCount, publicKey.first == 4 else {
                throw CryptoError(.malformedKey, "a P-256 point has 65 bytes and begins with 4")
            }
            guard secret.count == 16 else { throw CryptoError(.invalidLength, "the shared secret has 16 bytes") }
            self.publicKey = publicKey
            self.secret = secret
        }

        package var description: String { "keys of a recipient" }
    }

    /// Why a receiver does not take a body.
    package enum Refusal: String, Error, Sendable, CaseIterable {
        case headerShort = "header_short"
        case keyIDLength = "keyid_length"
        case recordSizeTooSmall = "rs_too_small"
        case moreThanOneRecord = "more_than_one_record"
        case badSenderKey = "bad_sender_key"
        case recordShort = "record_short"
        case tag
        case delimiter
        case noDelimiter = "no_delimiter"
        /// OpenSSL failed: nothing is known of the body.
        case library
    }

    /// A body, cut into its parts (RFC 8188 §2.1).
    struct Parts {
        let salt: ArraySlice<UInt8>
        let recordSize: Int
        let keyID: ArraySlice<UInt8>
        let records: ArraySlice<UInt8>

        init(_ body: [UInt8]) throws(Refusal) {
            guard body.count >= 21 else { throw .headerShort }
            salt = body[..<16]
            recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
            guard body.count >= 21 + Int(body[20]) else { throw .keyIDLength }
            keyID = body[21..<(21 + Int(body[20]))]
            records = body[(21 + Int(body[20]))...]
            guard recordSize >= smallestRecord else { throw .recordSizeTooSmall }
        }
    }
}

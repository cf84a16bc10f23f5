import COpenSSL

/// Derives keys with HMAC-SHA-256, one context for all of them. Belongs to one thread at a time.
final class KeyDerivation {
    /// Key and nonce of one message (RFC 8188 §2.2, §2.3).
    struct ContentKeys {
        var key = [UInt8](repeating: 0, count: 32)
        var nonce = [UInt8](repeating: 0, count: 32)
    }

    private static let keyInfo = Array("Content-Encoding: aes128gcm\u{0}\u{1}".utf8)
    private static let nonceInfo = Array("Content-Encoding: nonce\u{0}\u{1}".utf8)
    private static let pushInfo = Array("WebPush: info\u{0}".utf8)
    // Immutable once fetched, never freed.
    private nonisolated(unsafe) static let algorithm = EVP_MAC_fetch(nil, "HMAC", nil)

    private let context: OpaquePointer

    init() throws(CryptoError) {
        guard let algorithm = Self.algorithm, let context = EVP_MAC_CTX_new(algorithm) else {
            throw .fromLibrary(while: "opening HMAC")
        }
        self.context = context
        guard copenssl_use_sha256(context) == 1 else {
            EVP_MAC_CTX_free(context)
            throw .fromLibrary(while: "setting up HMAC")
        }
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// - Parameter data: what is authenticated, in parts.
    func code(key: [UInt8], _ data: [UInt8]..., into code: inout [UInt8]) -> Bool {
        guard EVP_MAC_init(context, key, key.count, nil) == 1 else { return false }
        for part in data where EVP_MAC_update(context, part, part.count) != 1 { return false }
        var length = 0
        return EVP_MAC_final(context, &code, &length, code.count) == 1 && length == 32
    }

    /// The input key of a push message (RFC 8291 §3.4): steps 4 to 6.
    func inputKey(
        shared: [UInt8], recipient: EncryptedContent.Recipient, sender: [UInt8], into key: inout [UInt8]
    ) -> Bool {
        code(key: recipient.secret, shared, into: &key)
            && code(key: key, Self.pushInfo, recipient.publicKey, sender, [1], into: &key)
    }

    /// The content's own keys (RFC 8188 §2.2 and §2.3).
    func contentKeys(salt: [UInt8], inputKey: [UInt8], into keys: inout ContentKeys) -> Bool {
        var root = [UInt8](repeating: 0, count: 32)
        defer { OPENSSL_cleanse(&root, root.count) }
        return code(key: salt, inputKey, into: &root)
            && code(key: root, Self.keyInfo, into: &keys.key)
            && code(key: root, Self.nonceInfo, into: &keys.nonce)
    }
}

/// Arithmetic on P-256, with numbers and points that are used again and again. Belongs to one thread at a time.
///
/// On the curve's own functions rather than `EVP_PKEY`: OpenSSL 3.0 spends more time on finding the implementation than
/// on the arithmetic, which is the same constant-time code.
final class CurveArithmetic {
    private let group: OpaquePointer
    private let order: OpaquePointer
    private let scratch: OpaquePointer
    private let number: OpaquePointer
    private let coordinate: OpaquePointer
    private let point: OpaquePointer

    init() throws(CryptoError) {
        guard let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), let order = EC_GROUP_get0_order(group),
            let scratch = BN_CTX_new(), let number = BN_secure_new(), let coordinate = BN_new(),
            let point = EC_POINT_new(group)
        else { throw .fromLibrary(while: "opening the curve P-256") }
        self.group = group
        self.order = order
        self.scratch = scratch
        self.number = number
        self.coordinate = coordinate
        self.point = point
        BN_set_flags(number, BN_FLG_CONSTTIME)
    }

    deinit {
        EC_POINT_clear_free(point)
        BN_clear_free(coordinate)
        BN_clear_free(number)
        BN_CTX_free(scratch)
        EC_GROUP_free(group)
    }

    /// Takes up a private key, drawn afresh if none is given.
    /// - Parameter raw: 32 bytes.
    func takeKey(_ raw: [UInt8]?) -> Bool {
        if let raw {
            guard raw.count == 32, BN_bin2bn(raw, 32, number) != nil else { return false }
            return BN_is_zero(number) == 0 && BN_cmp(number, order) < 0
        }
        repeat {
            guard BN_priv_rand_range(number, order) == 1 else { return false }
        } while BN_is_zero(number) == 1
        return true
    }

    /// The public half of the key that was taken up.
    /// - Parameter bytes: 65 of them, 4 ‖ x ‖ y.
    func publicKey(into bytes: inout [UInt8]) -> Bool {
        EC_POINT_mul(group, point, number, nil, nil, scratch) == 1
            && EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, 65, scratch) == 65
    }

    /// ECDH (RFC 8291 §3.4, step 3). The key that was taken up is forgotten.
    /// - Parameters:
    ///   - peer: 65 bytes; a point off the curve is refused.
    ///   - x: 32 bytes.
    func sharedSecret(with peer: [UInt8], into x: inout [UInt8]) -> Bool {
        defer { BN_clear(number) }
        return EC_POINT_oct2point(group, point, peer, peer.count, scratch) == 1
            && EC_POINT_mul(group, point, nil, point, number, scratch) == 1
            && EC_POINT_get_affine_coordinates(group, point, coordinate, nil, scratch) == 1
            && BN_bn2binpad(coordinate, &x, 32) == 32
    }
}

@testable import Crypto
import Testing

@Suite struct EncryptedContentTests {
    typealias Vectors = EncryptedContentVectors

    @Test func `the example of RFC 8291 section 5 comes out byte for byte`() throws {
        let vector = Vectors.all.rfc8291
        let recipient = try EncryptedContent.Recipient(
            publicKey: decoded(vector.uaPublic), secret: decoded(vector.authSecret))
        let body = try EncryptedContent.Sealer().seal(
            decoded(vector.plaintext), for: recipient, senderKey: decoded(vector.asPrivate), salt: decoded(vector.salt),
            padding: 0, recordSize: vector.rs)
        #expect(Base64URL.encode(body) == vector.body)
        let opener = try EncryptedContent.Opener(
            privateKey: decoded(vector.uaPrivate), secret: decoded(vector.authSecret))
        #expect(try opener.publicKey == decoded(vector.uaPublic))
        #expect(try opener.open(body) == decoded(vector.plaintext))
    }

    @Test func `the examples of RFC 8188 section 3 open`() throws {
        for vector in Vectors.all.rfc8188 {
            let opened = try EncryptedContent.open(decoded(vector.body), inputKey: decoded(vector.ikm))
            #expect(String(decoding: opened, as: UTF8.self) == vector.text, "\(vector.id)")
        }
    }

    @Test func `the one-record example of RFC 8188 comes out byte for byte`() throws {
        let vector = try #require(Vectors.all.rfc8188.first { $0.id == "3.1" })
        let body = try EncryptedContent.Sealer().seal(
            Array(vector.text.utf8), inputKey: decoded(vector.ikm), salt: decoded(vector.salt), keyID: [],
            recordSize: vector.rs)
        #expect(Base64URL.encode(body) == vector.body)
    }

    @Test(arguments: Vectors.all.aes128gcm.sizes.filter { $0.bodyBytes != nil && $0.asPrivate != nil })
    func `each size comes out byte for byte`(size: Vectors.Own.Size) throws {
        let subscriber = Vectors.all.aes128gcm.subscriber
        let plaintext = (0..<size.plaintextBytes).map { UInt8(($0 * 31 + 7) % 95 + 32) }
        #expect(hexadecimal(SHA256.hash(data: plaintext)) == size.plaintextSha256)
        let body = try EncryptedContent.Sealer().seal(
            plaintext,
            for: EncryptedContent.Recipient(
                publicKey: decoded(subscriber.uaPublic), secret: decoded(subscriber.authSecret)),
            senderKey: decoded(#require(size.asPrivate)), salt: decoded(#require(size.salt)), padding: 0,
            recordSize: 4096)
        #expect(body.count == size.bodyBytes)
        #expect(hexadecimal(SHA256.hash(data: body)) == size.bodySha256)
    }

    @Test func `a record never holds more than its size`() throws {
        let subscriber = Vectors.all.aes128gcm.subscriber
        let recipient = try EncryptedContent.Recipient(
            publicKey: decoded(subscriber.uaPublic), secret: decoded(subscriber.authSecret))
        let sealer = try EncryptedContent.Sealer()
        let largest = 4096 - EncryptedContent.tagByteCount - 1
        #expect(throws: Never.self) {
            try sealer.seal([UInt8](repeating: 32, count: largest), for: recipient)
        }
        for (count, padding) in [(largest + 1, 0), (largest, 1), (0, largest + 1), (1, -1)] {
            #expect(throws: CryptoError.self) {
                try sealer.seal([UInt8](repeating: 32, count: count), for: recipient, padding: padding)
            }
        }
    }

    @Test func `padding hides the length and comes off again`() throws {
        let opener = try opener()
        let recipient = try EncryptedContent.Recipient(publicKey: opener.publicKey, secret: secret())
        let sealer = try EncryptedContent.Sealer()
        for padding in [0, 1, 255] {
            let body = try sealer.seal([1, 2, 0], for: recipient, padding: padding)
            #expect(body.count == 3 + padding + EncryptedContent.overheadByteCount)
            #expect(try opener.open(body) == [1, 2, 0])
        }
    }

    @Test func `every message has a key pair and a salt of its own`() throws {
        let opener = try opener()
        let recipient = try EncryptedContent.Recipient(publicKey: opener.publicKey, secret: secret())
        let sealer = try EncryptedContent.Sealer()
        var heads: Set<[UInt8]> = []
        var salts: Set<[UInt8]> = []
        for number in 0..<200 {
            let body = try sealer.seal([UInt8(number)], for: recipient)
            heads.insert(Array(body[21..<86]))
            salts.insert(Array(body[..<16]))
            #expect(try opener.open(body) == [UInt8(number)])
        }
        #expect(heads.count == 200)
        #expect(salts.count == 200)
    }

    @Test func `bodies of others open`() throws {
        for vector in Vectors.all.aes128gcm.accepted {
            #expect(String(decoding: try opener().open(decoded(vector.body)), as: UTF8.self) == vector.text)
        }
    }

    @Test(arguments: Vectors.all.aes128gcm.refusedBodies)
    func `a receiver refuses what is not one whole record for it`(vector: Vectors.Own.Refused) throws {
        let subscriber = Vectors.all.aes128gcm.subscriber
        let opener = try EncryptedContent.Opener(
            privateKey: decoded(vector.uaPrivate ?? subscriber.uaPrivate),
            secret: decoded(vector.authSecret ?? subscriber.authSecret))
        let refusal = #expect(throws: EncryptedContent.Refusal.self) { try opener.open(decoded(vector.body)) }
        #expect(refusal?.rawValue == vector.refusedFor)
    }

    @Test func `sealing refuses every key that is no point of the curve`() throws {
        let sealer = try EncryptedContent.Sealer()
        for keys in Vectors.all.subscriptionKeys where keys.why == "p256dh_point" {
            let recipient = try EncryptedContent.Recipient(publicKey: decoded(keys.p256dh), secret: decoded(keys.auth))
            let error = #expect(throws: CryptoError.self, "\(keys.id)") { try sealer.seal([1], for: recipient) }
            #expect(error?.code == .malformedKey)
        }
        // And it still works afterwards.
        let opener = try opener()
        let recipient = try EncryptedContent.Recipient(publicKey: opener.publicKey, secret: secret())
        #expect(try opener.open(sealer.seal([7], for: recipient)) == [7])
    }

    @Test func `a recipient has a point of 65 bytes and a secret of 16`() throws {
        for keys in Vectors.all.subscriptionKeys {
            guard let why = keys.why, ["p256dh_length", "p256dh_prefix", "auth_length"].contains(why),
                let point = Base64URL.decode(keys.p256dh), let secret = Base64URL.decode(keys.auth)
            else { continue }
            #expect(throws: CryptoError.self, "\(keys.id)") {
                try EncryptedContent.Recipient(publicKey: point, secret: secret)
            }
        }
    }

    @Test func `a raw private key has the public half that it had elsewhere`() throws {
        let vector = Vectors.all.rfc8291
        let key = try P256.Signing.PrivateKey(rawRepresentation: decoded(vector.asPrivate))
        #expect(try key.publicKey.x963Representation == decoded(vector.asPublic))
        for raw in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32), [1]] {
            #expect(throws: CryptoError.self) { try P256.Signing.PrivateKey(rawRepresentation: raw) }
        }
    }

    private func opener() throws -> EncryptedContent.Opener {
        let subscriber = Vectors.all.aes128gcm.subscriber
        return try EncryptedContent.Opener(privateKey: decoded(subscriber.uaPrivate), secret: secret())
    }

    private func secret() throws -> [UInt8] { try decoded(Vectors.all.aes128gcm.subscriber.authSecret) }
}

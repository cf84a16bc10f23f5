import Crypto
import Testing

@Suite struct DigestTests {
    /// FIPS 180-4, examples of NIST.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the published digests`(text: String, digest: String) {
        #expect(SHA256.hash(data: Array(text.utf8)) == bytes(digest))
    }

    /// RFC 4231 §4.2, §4.3 and §4.7 (a key longer than the block).
    @Test(arguments: [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 131),
            "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `HMAC with SHA-256 gives the published codes`(key: String, data: String, code: String) {
        let made = HMAC<SHA256>.authenticationCode(for: bytes(data), using: SymmetricKey(data: bytes(key)))
        #expect(made == bytes(code))
    }

    /// RFC 5869 appendix A.1 to A.3.
    @Test(arguments: [
        (
            String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            (0x00...0x4f).map { twoDigits($0) }.joined(), (0x60...0xaf).map { twoDigits($0) }.joined(),
            (0xb0...0xff).map { twoDigits($0) }.joined(),
            """
            b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09\
            da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
            """
        ),
        (
            String(repeating: "0b", count: 22), "", "",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ])
    func `HKDF gives the published keys`(secret: String, salt: String, info: String, output: String) throws {
        let expected = bytes(output)
        let key = try HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes(secret)), salt: bytes(salt), info: bytes(info),
            outputByteCount: expected.count)
        #expect(key.withUnsafeBytes(Array.init) == expected)
    }

    @Test func `HKDF refuses more output than 255 digests`() {
        #expect(throws: CryptoError.self) {
            try HKDF<SHA256>.deriveKey(inputKeyMaterial: SymmetricKey(data: [1]), outputByteCount: 255 * 32 + 1)
        }
    }

    /// RFC 9562 appendix A.4.
    @Test func `a name gives the published UUID of version 5`() {
        let dns = bytes("6ba7b8109dad11d180b400c04fd430c8")
        #expect(UUIDv5.make(namespace: dns, name: "www.example.com") == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    @Test func `random bytes differ from draw to draw`() throws {
        #expect(try SecureRandom.bytes(32) != SecureRandom.bytes(32))
    }
}

private func twoDigits(_ value: Int) -> String {
    let digits = String(value, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
}

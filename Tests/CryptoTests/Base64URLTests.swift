import Crypto
import Testing

@Suite struct Base64URLTests {
    /// RFC 4648 §10 without padding, and the two letters of the URL-safe alphabet.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("~~~???", "fn5-Pz8_"),
    ])
    func `text is encoded and decoded as published`(text: String, encoded: String) {
        #expect(Base64URL.encode(Array(text.utf8)) == encoded)
        #expect(Base64URL.decode(encoded) == Array(text.utf8))
    }

    @Test(arguments: [
        "Z", "Zg==", "Zm8=", "Zh", "Zm9", "Z m8", " Zm9v", "Zm9v\n", "fn5+Pz8/", "Zm9v=", "Zm!v", "é", "====",
    ])
    func `anything but the canonical spelling is refused`(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `every length comes back`() throws {
        for length in 0..<130 {
            let bytes = try SecureRandom.bytes(length)
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }
}

import Crypto
import Testing

@Suite struct SealingTests {
    struct Case: Sendable {
        let key: String
        let nonce: String
        let plaintext: String
        let bound: String
        let ciphertext: String
        let tag: String
    }

    /// The test cases 2, 4 and 16 of the GCM specification that NIST SP 800-38D refers to.
    static let cases: [Case] = [
        Case(
            key: "00000000000000000000000000000000", nonce: "000000000000000000000000",
            plaintext: "00000000000000000000000000000000", bound: "", ciphertext: "0388dace60b6a392f328c2b971b2fe78",
            tag: "ab6e47d42cec13bdf53a67b21257bddf"),
        Case(
            key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
            plaintext: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
                b16aedf5aa0de657ba637b39
                """,
            bound: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            ciphertext: """
                42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05\
                1ba30b396a0aac973d58e091
                """,
            tag: "5bc94fbc3221a5db94fae95ae7121a47"),
        Case(
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
            plaintext: """
                d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525\
                b16aedf5aa0de657ba637b39
                """,
            bound: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            ciphertext: """
                522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838\
                c5f61e6393ba7a0abcc9f662
                """,
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    @Test(arguments: cases) func `AES-GCM gives the published ciphertexts`(of example: Case) throws {
        let key = SymmetricKey(data: bytes(example.key))
        let box = try AES.GCM.seal(
            bytes(example.plaintext), using: key, nonce: bytes(example.nonce), authenticating: bytes(example.bound))
        #expect(box.ciphertext == bytes(example.ciphertext))
        #expect(box.tag == bytes(example.tag))
        let opened = try AES.GCM.open(
            AES.GCM.SealedBox(combined: box.combined), using: key, authenticating: bytes(example.bound))
        #expect(opened == bytes(example.plaintext))
    }

    @Test(arguments: 0..<33) func `a flipped bit anywhere is noticed`(at index: Int) throws {
        let key = SymmetricKey(data: try SecureRandom.bytes(32))
        var combined = try AES.GCM.seal([1, 2, 3, 4, 5], using: key).combined
        try #require(combined.count == 33)
        combined[index] ^= 1
        let box = try AES.GCM.SealedBox(combined: combined)
        let fault = #expect(throws: CryptoError.self) { try AES.GCM.open(box, using: key) }
        #expect(fault?.code == .authenticationFailed)
    }

    @Test func `another key or another bound text opens nothing`() throws {
        let key = SymmetricKey(data: try SecureRandom.bytes(32))
        let box = try AES.GCM.seal([1, 2, 3], using: key, authenticating: [7])
        #expect(throws: CryptoError.self) { try AES.GCM.open(box, using: key, authenticating: [8]) }
        #expect(throws: CryptoError.self) {
            try AES.GCM.open(box, using: SymmetricKey(data: SecureRandom.bytes(32)), authenticating: [7])
        }
        #expect(try AES.GCM.open(box, using: key, authenticating: [7]) == [1, 2, 3])
    }

    @Test func `an empty message is sealed and opened`() throws {
        let key = SymmetricKey(data: try SecureRandom.bytes(16))
        #expect(try AES.GCM.open(AES.GCM.seal([], using: key), using: key) == [])
    }

    @Test(arguments: [0, 15, 24, 33]) func `a key of another length is refused`(count: Int) {
        let key = SymmetricKey(data: [UInt8](repeating: 1, count: count))
        let fault = #expect(throws: CryptoError.self) { try AES.GCM.seal([1], using: key) }
        #expect(fault?.code == .invalidLength)
    }

    @Test func `printing or dumping a key shows its length only`() {
        let key = SymmetricKey(data: Array("a very secret byte string".utf8))
        var dumped = ""
        dump(key, to: &dumped)
        for shown in ["\(key)", String(reflecting: key), "\([key])", dumped] {
            #expect(shown.contains("25 bytes"))
            #expect(!shown.contains("97"), "the letter a as a number")
            #expect(!shown.contains("secret"))
        }
    }
}

import Crypto
import Testing

@Suite struct SigningTests {
    @Test func `RS256 gives the published signature`() throws {
        let token = try JSONWebToken(parsing: Vectors.rfc7515RS256Token)
        let key = try RSA.Signing.PrivateKey(pemRepresentation: Vectors.rfc7515RSAKey)
        #expect(try key.signature(for: token.signingInput) == token.signature)
        try token.verify(using: key.publicKey)
    }

    @Test(arguments: [Vectors.rfc7515ECKey, Vectors.rfc7515ECKeySEC1])
    func `ES256 verifies the published signature and its own`(pem: String) throws {
        let token = try JSONWebToken(parsing: Vectors.rfc7515ES256Token)
        let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        try token.verify(using: key.publicKey)
        let signature = try key.signature(for: token.signingInput)
        #expect(signature.rawRepresentation.count == 64)
        #expect(key.publicKey.isValidSignature(signature, for: token.signingInput))
        #expect(!key.publicKey.isValidSignature(signature, for: token.signingInput + [0]))
    }

    /// About one r or s in 128 begins with a zero byte, which DER leaves out and JOSE does not.
    @Test func `short numbers are padded to 32 bytes`() throws {
        let key = try P256.Signing.PrivateKey()
        var short = 0
        for index in 0..<1_500 {
            let data = Array("message \(index)".utf8)
            let signature = try key.signature(for: data)
            let raw = signature.rawRepresentation
            guard raw[0] == 0 || raw[32] == 0 else { continue }
            short += 1
            #expect(key.publicKey.isValidSignature(signature, for: data))
        }
        #expect(short > 0)
    }

    @Test func `keys come back from their own PEM`() throws {
        let p256 = try P256.Signing.PrivateKey()
        let copy = try P256.Signing.PrivateKey(pemRepresentation: p256.pemRepresentation)
        #expect(try copy.publicKey.x963Representation == p256.publicKey.x963Representation)
        let rsa = try RSA.Signing.PrivateKey(pemRepresentation: Vectors.rfc7515RSAKey)
        let publicCopy = try RSA.Signing.PublicKey(pemRepresentation: rsa.publicKey.pemRepresentation)
        #expect(publicCopy.isValidSignature(try rsa.signature(for: [1, 2]), for: [1, 2]))
    }

    /// Coordinates of RFC 7515 appendix A.3.
    @Test func `a point makes the same public key as the PEM`() throws {
        let x = try #require(Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"))
        let y = try #require(Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        let key = try P256.Signing.PublicKey(x963Representation: [4] + x + y)
        try JSONWebToken(parsing: Vectors.rfc7515ES256Token).verify(using: key)
        #expect(try key.x963Representation == [4] + x + y)
    }

    @Test(arguments: [
        [], [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 0, count: 64),
        [4] + [UInt8](repeating: 7, count: 64), [4] + [UInt8](repeating: 7, count: 63),
    ])
    func `what is no point on the curve is refused`(encoded: [UInt8]) {
        let fault = #expect(throws: CryptoError.self) { try P256.Signing.PublicKey(x963Representation: encoded) }
        #expect(fault?.code == .malformedKey)
    }

    @Test(arguments: [
        (Vectors.p384Key, CryptoError.Code.unsupportedKey), (Vectors.rfc7515RSAKey, .unsupportedKey),
        (Vectors.encryptedKey, .malformedKey), ("", .malformedKey), ("no key", .malformedKey),
    ])
    func `what is no P-256 key is refused by name`(pem: String, code: CryptoError.Code) {
        let fault = #expect(throws: CryptoError.self) { try P256.Signing.PrivateKey(pemRepresentation: pem) }
        #expect(fault?.code == code)
    }

    @Test(arguments: [
        (Vectors.rsa1024Key, CryptoError.Code.unsupportedKey), (Vectors.rfc7515ECKey, .unsupportedKey),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", .malformedKey),
    ])
    func `what is no sufficient RSA key is refused by name`(pem: String, code: CryptoError.Code) {
        let fault = #expect(throws: CryptoError.self) { try RSA.Signing.PrivateKey(pemRepresentation: pem) }
        #expect(fault?.code == code)
        #expect(fault.map { !"\($0)".contains("AAAA") } == true)
    }
}

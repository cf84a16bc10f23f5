import Crypto
import Testing

@Suite struct JSONWebTokenTests {
    struct OAuthClaims: Codable, Equatable {
        var aud = "https://oauth2.googleapis.com/token"
        var exp = 1_774_003_600
        var iat = 1_774_000_000
        var iss = "sender@ferry-test.iam.gserviceaccount.example"
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
    }

    struct ProviderClaims: Codable, Equatable {
        var iss = "TEAMTEST01"
        var iat = 1_774_000_000
    }

    @Test func `an RS256 token equals the one of an independent implementation`() throws {
        let key = try RSA.Signing.PrivateKey(pemRepresentation: Vectors.oauthKey)
        let token = try JSONWebToken.sign(OAuthClaims(), keyID: "0123456789abcdef", using: key)
        #expect(token == Vectors.oauthAssertion)
    }

    @Test func `an ES256 token of an independent implementation is believed`() throws {
        let token = try JSONWebToken(parsing: Vectors.providerToken)
        let key = try P256.Signing.PrivateKey(pemRepresentation: Vectors.providerKey)
        try token.verify(using: key.publicKey)
        #expect(token.header.alg == "ES256")
        #expect(token.header.kid == "KEYTEST001")
        #expect(token.header.typ == nil)
        #expect(try token.claims(as: ProviderClaims.self) == ProviderClaims())
    }

    @Test func `an ES256 token of ours is believed by its public key alone`() throws {
        let key = try P256.Signing.PrivateKey(pemRepresentation: Vectors.providerKey)
        let other = try P256.Signing.PrivateKey(pemRepresentation: Vectors.otherProviderKey)
        let token = try JSONWebToken(
            parsing: JSONWebToken.sign(ProviderClaims(), keyID: "KEYTEST001", type: nil, using: key))
        try token.verify(using: key.publicKey)
        let fault = #expect(throws: CryptoError.self) { try token.verify(using: other.publicKey) }
        #expect(fault?.code == .badSignature)
    }

    @Test func `a token cannot choose the algorithm that it is verified with`() throws {
        let rsa = try RSA.Signing.PrivateKey(pemRepresentation: Vectors.oauthKey)
        let token = try JSONWebToken(parsing: Vectors.providerToken)
        let fault = #expect(throws: CryptoError.self) { try token.verify(using: rsa.publicKey) }
        #expect(fault?.code == .wrongAlgorithm)
        let parts = Vectors.oauthAssertion.split(separator: ".")
        let none = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
        let unsigned = try JSONWebToken(parsing: "\(none).\(parts[1]).")
        #expect(throws: CryptoError.self) { try unsigned.verify(using: rsa.publicKey) }
    }

    @Test func `a changed claim is noticed`() throws {
        let rsa = try RSA.Signing.PrivateKey(pemRepresentation: Vectors.oauthKey)
        let parts = Vectors.oauthAssertion.split(separator: ".")
        let forged = Base64URL.encode(Array(#"{"iss":"somebody else"}"#.utf8))
        let token = try JSONWebToken(parsing: "\(parts[0]).\(forged).\(parts[2])")
        let fault = #expect(throws: CryptoError.self) { try token.verify(using: rsa.publicKey) }
        #expect(fault?.code == .badSignature)
    }

    @Test(arguments: ["", "a", "a.b", "..", "e30.e30.", "e30.e30.AA.AA", "W10.e30.AA", "eyJhbGciOiJSUzI1NiJ9.e30.A!"])
    func `what is no token is refused`(text: String) {
        let fault = #expect(throws: CryptoError.self) { try JSONWebToken(parsing: text) }
        #expect(fault?.code == .malformedToken)
    }
}

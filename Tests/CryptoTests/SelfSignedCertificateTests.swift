import Crypto
import Testing

@Suite struct SelfSignedCertificateTests {
    @Test func `a certificate comes with its authority and an unencrypted key`() throws {
        let made = try SelfSignedCertificate.make(hosts: ["localhost", "push.example"], addresses: ["127.0.0.1"])
        #expect(made.certificatePEM.hasSuffix(made.authorityPEM))
        #expect(made.certificatePEM != made.authorityPEM)
        _ = try P256.Signing.PrivateKey(pemRepresentation: made.keyPEM)
        #expect(!"\(made)".contains("PRIVATE"))
    }

    @Test func `what is no address is refused`() {
        #expect(throws: CryptoError.self) { try SelfSignedCertificate.make(addresses: ["somewhere"]) }
    }
}

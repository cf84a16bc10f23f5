/// A private key that can sign a token.
package protocol JSONWebTokenSigner: Sendable {
    /// The `alg` of RFC 7518 §3.1.
    var jsonWebAlgorithm: String { get }
    func jsonWebSignature(of input: [UInt8]) throws(CryptoError) -> [UInt8]
}

/// A public key that can verify one.
package protocol JSONWebTokenVerifier: Sendable {
    /// The only `alg` that it accepts.
    var jsonWebAlgorithm: String { get }
    func verifiesJSONWebSignature(_ signature: [UInt8], of input: [UInt8]) -> Bool
}

extension RSA.Signing.PrivateKey: JSONWebTokenSigner {
    package var jsonWebAlgorithm: String { "RS256" }
    package func jsonWebSignature(of input: [UInt8]) throws(CryptoError) -> [UInt8] { try signature(for: input) }
}

extension RSA.Signing.PublicKey: JSONWebTokenVerifier {
    package var jsonWebAlgorithm: String { "RS256" }
    package func verifiesJSONWebSignature(_ signature: [UInt8], of input: [UInt8]) -> Bool {
        isValidSignature(signature, for: input)
    }
}

extension P256.Signing.PrivateKey: JSONWebTokenSigner {
    package var jsonWebAlgorithm: String { "ES256" }
    package func jsonWebSignature(of input: [UInt8]) throws(CryptoError) -> [UInt8] {
        try signature(for: input).rawRepresentation
    }
}

extension P256.Signing.PublicKey: JSONWebTokenVerifier {
    package var jsonWebAlgorithm: String { "ES256" }
    package func verifiesJSONWebSignature(_ signature: [UInt8], of input: [UInt8]) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
        return isValidSignature(signature, for: input)
    }
}

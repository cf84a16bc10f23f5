import FoundationEssentials

/// A signed token in compact form (RFC 7519, RFC 7515 §7.1). `RS256` and `ES256` only.
///
/// Parsing does not trust: nothing may be believed before `verify`.
package struct JSONWebToken: Sendable {
    package struct Header: Codable, Sendable, Equatable {
        package let alg: String
        package let kid: String?
        package let typ: String?
    }

    package let header: Header
    /// The claims' JSON text.
    package let claimsJSON: [UInt8]
    /// What the signature covers: the first two parts and the dot between them.
    package let signingInput: [UInt8]
    package let signature: [UInt8]

    /// - Throws: `.malformedToken` unless it has three base64url parts and a JSON header that names an algorithm.
    package init(parsing text: String) throws(CryptoError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let headerJSON = Base64URL.decode(parts[0]), let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw CryptoError(.malformedToken, "a token has three base64url parts") }
        guard let header = try? JSONDecoder().decode(Header.self, from: Data(headerJSON)) else {
            throw CryptoError(.malformedToken, "the header is no JSON object that names an algorithm")
        }
        self.header = header
        claimsJSON = claims
        signingInput = Array("\(parts[0]).\(parts[1])".utf8)
        self.signature = signature
    }

    /// - Throws: `.wrongAlgorithm` when the header names another algorithm than the key's (no choice is left to the
    ///   token), `.badSignature` when it was not signed by that key.
    package func verify(using key: some JSONWebTokenVerifier) throws(CryptoError) {
        guard header.alg == key.jsonWebAlgorithm else {
            throw CryptoError(.wrongAlgorithm, "the token is not signed with \(key.jsonWebAlgorithm)")
        }
        guard key.verifiesJSONWebSignature(signature, of: signingInput) else {
            throw CryptoError(.badSignature, "the token was not signed by this key")
        }
    }

    /// - Throws: `.malformedToken` when the claims do not have that shape.
    package func claims<Claims: Decodable>(as type: Claims.Type) throws(CryptoError) -> Claims {
        guard let claims = try? JSONDecoder().decode(type, from: Data(claimsJSON)) else {
            throw CryptoError(.malformedToken, "the claims do not have the expected shape")
        }
        return claims
    }

    /// Signs `claims`, an object whose keys are written sorted and whose text holds no needless escapes, so that RS256
    /// gives the same token for the same claims.
    /// - Parameters:
    ///   - keyID: the header's `kid`.
    ///   - type: the header's `typ`; nil leaves it out.
    package static func sign(
        _ claims: some Encodable, keyID: String?, type: String? = "JWT", using key: some JSONWebTokenSigner
    ) throws(CryptoError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = Header(alg: key.jsonWebAlgorithm, kid: keyID, typ: type)
        guard let headerJSON = try? encoder.encode(header), let claimsJSON = try? encoder.encode(claims) else {
            throw CryptoError(.malformedToken, "header or claims cannot be written as JSON")
        }
        let input = Base64URL.encode(Array(headerJSON)) + "." + Base64URL.encode(Array(claimsJSON))
        return try input + "." + Base64URL.encode(key.jsonWebSignature(of: Array(input.utf8)))
    }
}

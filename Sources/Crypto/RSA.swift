import COpenSSL

package enum RSA {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2), `RS256` of RFC 7518 §3.3. Deterministic; about 250 µs to sign.
    package enum Signing {
        package struct PrivateKey: Sendable, CustomStringConvertible {
            let handle: KeyHandle

            /// - Parameter pemRepresentation: unencrypted PKCS#8 or PKCS#1, at least 2048 bits (RFC 7518 §3.3).
            package init(pemRepresentation: String) throws(CryptoError) {
                handle = try checked(KeyHandle.privateKey(pem: pemRepresentation))
            }

            /// A new key pair.
            package init(bits: Int32 = 2048) throws(CryptoError) {
                handle = try checked(KeyHandle.generate("RSA", bits: bits))
            }

            package var description: String { "RSA private key" }

            package var publicKey: PublicKey { PublicKey(handle: handle) }

            package var pemRepresentation: String { get throws(CryptoError) { try handle.privatePEM } }

            /// As long as the modulus.
            package func signature(for data: [UInt8]) throws(CryptoError) -> [UInt8] { try handle.sign(data) }
        }

        package struct PublicKey: Sendable {
            let handle: KeyHandle

            init(handle: KeyHandle) { self.handle = handle }

            package init(pemRepresentation: String) throws(CryptoError) {
                handle = try checked(KeyHandle.publicKey(pem: pemRepresentation))
            }

            package var pemRepresentation: String { get throws(CryptoError) { try handle.publicPEM } }

            package func isValidSignature(_ signature: [UInt8], for data: [UInt8]) -> Bool {
                handle.verifies(signature, of: data)
            }
        }

        private static func checked(_ handle: KeyHandle) throws(CryptoError) -> KeyHandle {
            guard handle.isA("RSA") else { throw CryptoError(.unsupportedKey, "not an RSA key") }
            guard EVP_PKEY_get_bits(handle.pointer) >= 2048 else {
                throw CryptoError(.unsupportedKey, "an RSA key needs at least 2048 bits")
            }
            return handle
        }
    }
}

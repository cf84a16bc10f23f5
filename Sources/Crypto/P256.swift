import COpenSSL

package enum P256 {
    /// ECDSA over P-256 with SHA-256 (FIPS 186-5), `ES256` of RFC 7518 §3.4. About 25 µs to sign.
    package enum Signing {
        package struct ECDSASignature: Sendable, Equatable {
            /// r ‖ s, 32 bytes each, big-endian: the form of JOSE.
            package let rawRepresentation: [UInt8]

            package init(rawRepresentation: [UInt8]) throws(CryptoError) {
                guard rawRepresentation.count == 64 else {
                    throw CryptoError(.invalidLength, "a P-256 signature has 64 bytes")
                }
                self.rawRepresentation = rawRepresentation
            }
        }

        package struct PrivateKey: Sendable, CustomStringConvertible {
            let handle: KeyHandle

            /// - Parameter pemRepresentation: unencrypted PKCS#8 or SEC 1.
            package init(pemRepresentation: String) throws(CryptoError) {
                handle = try checked(KeyHandle.privateKey(pem: pemRepresentation))
            }

            /// A new key pair.
            package init() throws(CryptoError) { handle = try KeyHandle.generate("EC", group: groupName) }

            package var description: String { "P-256 private key" }

            package var publicKey: PublicKey { PublicKey(handle: handle) }

            package var pemRepresentation: String { get throws(CryptoError) { try handle.privatePEM } }

            package func signature(for data: [UInt8]) throws(CryptoError) -> ECDSASignature {
                try ECDSASignature(derRepresentation: handle.sign(data))
            }
        }

        package struct PublicKey: Sendable {
            let handle: KeyHandle

            init(handle: KeyHandle) { self.handle = handle }

            package init(pemRepresentation: String) throws(CryptoError) {
                handle = try checked(KeyHandle.publicKey(pem: pemRepresentation))
            }

            /// - Parameter x963Representation: 65 bytes, 0x04 ‖ x ‖ y. A point off the curve is refused.
            package init(x963Representation: [UInt8]) throws(CryptoError) { handle = try point(x963Representation) }

            /// 65 bytes, 0x04 ‖ x ‖ y.
            package var x963Representation: [UInt8] {
                get throws(CryptoError) {
                    var bytes = [UInt8](repeating: 0, count: 65)
                    var written = 0
                    guard
                        EVP_PKEY_get_octet_string_param(
                            handle.pointer, OSSL_PKEY_PARAM_PUB_KEY, &bytes, bytes.count, &written) == 1,
                        written == 65
                    else { throw .fromLibrary(while: "reading a public key") }
                    return bytes
                }
            }

            package var pemRepresentation: String { get throws(CryptoError) { try handle.publicPEM } }

            package func isValidSignature(_ signature: ECDSASignature, for data: [UInt8]) -> Bool {
                guard let encoded = signature.derRepresentation else { return false }
                return handle.verifies(encoded, of: data)
            }
        }

        private static let groupName = "prime256v1"

        private static func checked(_ handle: KeyHandle) throws(CryptoError) -> KeyHandle {
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard handle.isA("EC"), EVP_PKEY_get_group_name(handle.pointer, &name, name.count, &length) == 1,
                name.prefix(length).elementsEqual(groupName.utf8.map { CChar($0) })
            else {
                ERR_clear_error()
                throw CryptoError(.unsupportedKey, "not a key on the curve P-256")
            }
            return handle
        }

        /// OpenSSL takes an encoded point only into a key that knows its curve, so the curve is copied from one that does.
        private static func point(_ encoded: [UInt8]) throws(CryptoError) -> KeyHandle {
            guard encoded.count == 65, encoded.first == 4 else {
                throw CryptoError(.malformedKey, "a P-256 point has 65 bytes and begins with 4")
            }
            let curve = try curveTemplate.get()
            guard let key = EVP_PKEY_new() else { throw .fromLibrary(while: "reading a public key") }
            let handle = KeyHandle(adopting: key)
            guard EVP_PKEY_copy_parameters(key, curve.pointer) == 1,
                EVP_PKEY_set1_encoded_public_key(key, encoded, encoded.count) == 1
            else { throw .fromLibrary(.malformedKey, while: "not a point on P-256") }
            return handle
        }

        private static let curveTemplate: Result<KeyHandle, CryptoError> = Result { () throws(CryptoError) in
            try KeyHandle.generate("EC", group: groupName)
        }
    }
}

import COpenSSL

/// What went wrong in this module. It quotes no key, token or plaintext.
package struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// The text is no PEM, or holds no key of that kind.
        case malformedKey
        /// A key, but of another algorithm, curve or size than asked for.
        case unsupportedKey
        /// No compact JWS of three base64url parts with JSON in the first two.
        case malformedToken
        /// The token names another algorithm than the key's.
        case wrongAlgorithm
        /// The signature does not match.
        case badSignature
        /// A sealed text was altered, cut, or sealed under another key.
        case authenticationFailed
        /// A key, nonce or output length that the algorithm does not have.
        case invalidLength
        /// OpenSSL refused; `context` holds its reason.
        case library
    }

    package let code: Code
    /// For a person; constant text or OpenSSL's own reason.
    package let context: String

    init(_ code: Code, _ context: String) {
        self.code = code
        self.context = context
    }

    package var description: String { "\(code.rawValue): \(context)" }

    /// Takes the oldest reason from this thread's error queue and empties the queue, which TLS on the same thread reads.
    static func fromLibrary(_ code: Code = .library, while doing: String) -> CryptoError {
        let number = ERR_get_error()
        ERR_clear_error()
        guard number != 0, let reason = ERR_reason_error_string(number) else { return CryptoError(code, doing) }
        return CryptoError(code, "\(doing): \(String(cString: reason))")
    }
}

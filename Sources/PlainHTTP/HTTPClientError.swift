import CCurl

/// Why there is no answer. It quotes neither URL nor body.
package struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// No URL, or one that is neither https nor, where the client allows it, http.
        case invalidURL
        /// No address, no route, or nobody listens: nothing was sent.
        case connectFailed
        /// The peer's certificate is not to be trusted, or TLS failed: nothing was sent.
        case tlsFailed
        /// The proxy that the environment names cannot be reached or refuses.
        case proxyFailed
        case timedOut
        case connectionLost
        /// The answer is longer than the client accepts.
        case bodyTooLarge
        case cancelled
        /// libcurl failed otherwise; `context` holds its reason.
        case library
    }

    package let code: Code
    package let context: String

    package var description: String { "\(code.rawValue): \(context)" }

    init(_ code: Code, _ context: String) {
        self.code = code
        self.context = context
    }

    /// libcurl-errors(3).
    init(_ curl: CURLcode, bodyTooLarge: Bool) {
        let code: Code =
            switch curl {
            case CURLE_WRITE_ERROR where bodyTooLarge: .bodyTooLarge
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .invalidURL
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT: .connectFailed
            case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxyFailed
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
                CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
                .tlsFailed
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_HTTP2,
                CURLE_HTTP2_STREAM:
                .connectionLost
            default: .library
            }
        self.init(code, String(cString: curl_easy_strerror(curl)))
    }
}

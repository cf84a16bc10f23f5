import COpenSSL
import Glibc

/// Owner of an `SSL_CTX`, which OpenSSL itself guards once it is set up, as it is when `init` or a factory returns.
final class TLSContext: @unchecked Sendable {
    private let pointer: OpaquePointer

    private init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        let mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        // One read(2) for the header of a record and the record, and for several records.
        SSL_CTX_ctrl(pointer, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        SSL_CTX_set_default_read_buffer_len(pointer, 65_536)
    }

    deinit { SSL_CTX_free(pointer) }

    /// Checks servers against `trust`, and offers HTTP/2 only.
    /// - Returns: nil if the authorities cannot be read.
    static func client(trust: TLSTrust) -> TLSContext? {
        guard let pointer = SSL_CTX_new(TLS_client_method()) else { return nil }
        let context = TLSContext(pointer)
        let loaded =
            switch trust {
            case .system: SSL_CTX_set_default_verify_paths(pointer)
            case .file(let path): SSL_CTX_load_verify_locations(pointer, path, nil)
            }
        ERR_clear_error()
        let protocols: [UInt8] = [2] + Array("h2".utf8)
        guard loaded == 1, SSL_CTX_set_alpn_protos(pointer, protocols, UInt32(protocols.count)) == 0 else { return nil }
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        return context
    }

    static func server(certificateFile: String, keyFile: String, offersHTTP2: Bool) throws(HTTP2Error) -> TLSContext {
        guard let pointer = SSL_CTX_new(TLS_server_method()) else { throw HTTP2Error(.library, "SSL_CTX_new failed") }
        let context = TLSContext(pointer)
        defer { ERR_clear_error() }
        guard SSL_CTX_use_certificate_chain_file(pointer, certificateFile) == 1 else {
            throw HTTP2Error(.badCertificate, "no certificate can be read from \(certificateFile)")
        }
        guard SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw HTTP2Error(.badCertificate, "no key of the certificate can be read from \(keyFile)")
        }
        // Captures nothing; answers "h2" if the client offers it.
        let select: SSL_CTX_alpn_select_cb_func = { _, chosen, chosenLength, offered, offeredLength, _ in
            guard let chosen, let chosenLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
            var index = 0
            while index < Int(offeredLength) {
                let length = Int(offered[index])
                if length == 2, offered[index + 1] == UInt8(ascii: "h"), offered[index + 2] == UInt8(ascii: "2") {
                    chosen.pointee = offered + index + 1
                    chosenLength.pointee = 2
                    return SSL_TLSEXT_ERR_OK
                }
                index += length + 1
            }
            return SSL_TLSEXT_ERR_NOACK
        }
        if offersHTTP2 { SSL_CTX_set_alpn_select_cb(pointer, select, nil) }
        return context
    }

    /// The server's side of a connection that was accepted.
    func accepted(file: Int32) -> TLSChannel? {
        guard let ssl = SSL_new(pointer) else { return nil }
        SSL_set_accept_state(ssl)
        return TLSChannel(file: file, ssl: ssl)
    }

    /// The client's side of a connection to `host`, whose certificate must name it (RFC 9110 §4.3.4).
    func connected(file: Int32, host: String, isAddress: Bool) -> TLSChannel? {
        guard let ssl = SSL_new(pointer) else { return nil }
        SSL_set_connect_state(ssl)
        let isSet: Int32
        if isAddress {
            isSet = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host)
        } else {
            SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            isSet = SSL_set1_host(ssl, host)
            host.withCString { name in
                let name = UnsafeMutableRawPointer(mutating: name)
                _ = SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), name)
            }
        }
        guard isSet == 1 else {
            // Without a name to check, any certificate would do.
            SSL_free(ssl)
            ERR_clear_error()
            return nil
        }
        return TLSChannel(file: file, ssl: ssl)
    }
}

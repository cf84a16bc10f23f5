import CNghttp2
import COpenSSL
import Glibc

/// Owner of a connected socket and of the TLS on it. Never blocks. Belongs to one thread.
final class TLSChannel {
    enum Progress { case done, blocked, failed }
    enum Input {
        case bytes(Int)
        case nothing
        case ended
    }

    /// The most that one TLS record holds (RFC 8446 §5.1).
    private static let recordSize = 16_384
    private static let capacity = 65_536
    /// A frame of the largest size that we announce, its header and padding: what one call of libnghttp2 may return.
    private static let largestFrame = 16_384 + 9 + 256

    let file: Int32
    private let ssl: OpaquePointer
    private let output = UnsafeMutablePointer<UInt8>.allocate(capacity: TLSChannel.capacity)
    private var start = 0
    private var end = 0

    /// How many bytes libnghttp2 gave us in all, and how many of them OpenSSL was offered: some of the latter may have
    /// left even if it said that it would take them later.
    private(set) var packed: UInt64 = 0
    private(set) var handed: UInt64 = 0

    /// Takes both over.
    init(file: Int32, ssl: OpaquePointer) {
        self.file = file
        self.ssl = ssl
        SSL_set_fd(ssl, file)
    }

    deinit {
        SSL_free(ssl)
        close(file)
        output.deallocate()
    }

    var isEmpty: Bool { start == end }

    func handshake() -> Progress {
        let code = SSL_do_handshake(ssl)
        return code == 1 ? .done : progress(code)
    }

    /// Whether the handshake chose HTTP/2 (RFC 7301, RFC 9113 §3.2).
    var isHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return length == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
    }

    /// Why the peer's certificate was not accepted; nil if that was not the fault.
    var certificateFault: String? {
        let code = SSL_get_verify_result(ssl)
        return code == Int(X509_V_OK) ? nil : String(cString: X509_verify_cert_error_string(code))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Input {
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        if count > 0 { return .bytes(Int(count)) }
        return progress(count) == .blocked ? .nothing : .ended
    }

    /// Whether another `read` may find bytes without asking the socket.
    var hasPending: Bool { SSL_has_pending(ssl) == 1 }

    /// Sends what the session has to say, packed into whole TLS records.
    func flush(_ session: OpaquePointer) -> Progress {
        while true {
            while end <= Self.capacity - Self.largestFrame {
                var bytes: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(session, &bytes)
                if count < 0 { return .failed }
                if count == 0 { break }
                memcpy(output + end, bytes!, count)  // there, since count is positive
                end += count
                packed += UInt64(count)
            }
            if isEmpty { return .done }
            let progress = write(min(end - start, Self.recordSize))
            if progress != .done { return progress }
        }
    }

    /// Sends what was packed before, and takes no more from the session.
    func drain() -> Progress {
        while !isEmpty {
            let progress = write(min(end - start, Self.recordSize))
            if progress != .done { return progress }
        }
        return .done
    }

    /// Tells the peer that no more will come, if the socket takes it now.
    func sayGoodbye() {
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    private func write(_ count: Int) -> Progress {
        handed = max(handed, packed - UInt64(end - start - count))
        let written = SSL_write(ssl, output + start, Int32(count))
        if written <= 0 { return progress(written) }
        start += Int(written)
        if isEmpty {
            start = 0
            end = 0
        }
        return .done
    }

    private func progress(_ code: Int32) -> Progress {
        switch SSL_get_error(ssl, code) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .blocked
        default:
            ERR_clear_error()  // the thread's queue of errors would spoil the next connection's call
            return .failed
        }
    }
}

/// Why a request has no answer.
package enum HTTP2Fault: Equatable, Sendable {
    /// No answer within the deadline.
    case timedOut
    /// The connection ended, or broke a rule of the protocol.
    case connectionLost
    /// The server gave up on this stream with an error code (RFC 9113 §7) other than REFUSED_STREAM.
    case streamReset(code: UInt32)
    /// The server refused the stream unprocessed, every time it was sent.
    case refusedStream
    /// The server is going away and did not process the stream.
    case goAway
    /// No connection could be made: no address, no route, no TLS, a wrong certificate, no HTTP/2.
    case connectFailed
    /// The name leads to no address that this client may connect to.
    case addressRefused
    /// There was no room for it before its time was over.
    case tooLate
    /// The client was closed.
    case closed
}

/// What a handler wants done about a request: an answer, or one of the ways in which servers fail.
package enum HTTP2ServerAction: Sendable {
    case respond(HTTP2ServerResponse)
    case respondAfter(Duration, HTTP2ServerResponse)
    /// Leaves the stream open and never answers.
    case stall
    /// RST_STREAM with an error code (RFC 9113 §7).
    case reset(code: UInt32)
    /// RST_STREAM with REFUSED_STREAM: the request was not processed.
    case refuse
    /// GOAWAY that accepts this request and those before it. Without a response, this one stays unanswered. The
    /// connection is closed once no other request that it accepted waits for an answer.
    case goAway(answeringThis: HTTP2ServerResponse?)
    /// GOAWAY that accepts only the requests before this one; otherwise as `goAway`.
    case goAwayUnprocessed
    /// Ends the connection at once, unanswered requests or not; hard: by a TCP reset, which also loses answers that are
    /// on their way.
    case closeConnection(hard: Bool)
}

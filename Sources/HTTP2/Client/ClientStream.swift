/// A place for one request of a connection, reused for stream after stream. libnghttp2 holds a pointer to it, so it does
/// not move, and is not reused before libnghttp2 has closed the stream.
struct ClientStream {
    let index: Int32
    var id: Int32 = 0
    /// nil only while the place is free: libnghttp2 may look at the request, and at the shared fields that it holds,
    /// until the stream is closed.
    var queued: QueuedRequest?
    /// The result was given; the stream waits to be closed.
    var isSettled = false
    var deadline = ContinuousClock.now
    /// Where the request's HEADERS start, counted in bytes that the session produced; nil as long as it has not.
    var headersAt: UInt64?
    var bodySent = 0
    var status = 0
    var hasEnded = false
    var fields: [HTTP2Response.Field] = []
    var body: [UInt8] = []

    mutating func begin(_ queued: QueuedRequest, deadline: ContinuousClock.Instant) {
        self.queued = queued
        isSettled = false
        self.deadline = deadline
        headersAt = nil
        bodySent = 0
        status = 0
        hasEnded = false
    }

    /// Takes what was received out of the stream.
    mutating func takeResponse() -> HTTP2Response {
        defer { clear() }
        return HTTP2Response(status: status, fields: fields, body: body)
    }

    mutating func clear() {
        if !fields.isEmpty { fields = [] }
        if !body.isEmpty { body = [] }
    }
}

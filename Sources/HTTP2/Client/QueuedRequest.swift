/// A request on its way: in the queue, or on a connection.
struct QueuedRequest {
    let request: HTTP2Request
    let submission: Submission
    /// How often it was given to a connection.
    var sends = 0
    /// The last time.
    var begunAt: ContinuousClock.Instant?
    /// Why it came back, if it did.
    var fault: HTTP2Fault?

    init(_ request: HTTP2Request, of submission: Submission) {
        self.request = request
        self.submission = submission
    }
}

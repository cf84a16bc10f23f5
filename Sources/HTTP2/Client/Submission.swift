/// One call of `submit`. Filled by the caller, then posted; from there on it belongs to the client's thread, which is
/// what makes it Sendable.
final class Submission: @unchecked Sendable {
    let requests: [HTTP2Request]
    let shared: HTTP2FieldBlock
    let beginBefore: ContinuousClock.Instant
    let deadline: Duration
    let priority: HTTP2Priority
    private let sink: @Sendable ([HTTP2Result]) -> Void
    /// The first request that was not taken from the queue.
    var next = 0
    private var results: [HTTP2Result] = []

    init(
        requests: [HTTP2Request], shared: HTTP2FieldBlock, beginBefore: ContinuousClock.Instant, deadline: Duration,
        priority: HTTP2Priority, sink: @escaping @Sendable ([HTTP2Result]) -> Void
    ) {
        self.requests = requests
        self.shared = shared
        self.beginBefore = beginBefore
        self.deadline = deadline
        self.priority = priority
        self.sink = sink
    }

    /// - Returns: whether this is the first result since the last delivery.
    func add(_ result: HTTP2Result) -> Bool {
        results.append(result)
        return results.count == 1
    }

    func deliver() {
        let ready = results
        results = []
        sink(ready)
    }
}

import HTTP2
import Threading

/// Takes results as they come, for a test that waits for them.
final class Collector: Sendable {
    private let received = Locked<[HTTP2Result]>([])
    private let wakeup = Wakeup()

    var sink: @Sendable ([HTTP2Result]) -> Void {
        { results in
            self.received.withLock { $0 += results }
            self.wakeup.signal()
        }
    }

    /// What has come so far.
    var results: [HTTP2Result] { received.withLock { $0 } }

    /// Waits until that many have come, or the time is up: then there are fewer, and the test shows it.
    func wait(for count: Int, within limit: Duration = .seconds(20)) async -> [HTTP2Result] {
        let deadline = ContinuousClock.now + limit
        while received.withLock({ $0.count }) < count, ContinuousClock.now < deadline {
            await wakeup.wait(until: deadline)
        }
        return results
    }
}

extension HTTP2Result {
    var status: Int? {
        if case .answered(let response) = outcome { response.status } else { nil }
    }

    var notSent: HTTP2Fault? {
        if case .notSent(let fault) = outcome { fault } else { nil }
    }

    var mayHaveBeenSent: HTTP2Fault? {
        if case .mayHaveBeenSent(let fault) = outcome { fault } else { nil }
    }
}

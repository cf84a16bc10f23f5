import Glibc
import Logging
import Threading

/// Sends requests to one origin over a few connections, many at a time, and says of each what became of it.
///
/// One thread of its own owns the connections. A request is sent once, and again only if the server certainly did not
/// process it; see `HTTP2Result.Outcome`.
package final class HTTP2Client: Sendable {
    private struct State: Sendable {
        /// The thread has ended: nobody reads the mailbox any more.
        var isOver = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    package let origin: HTTP2Origin
    private let mailbox = Mailbox<ClientLoop.Message>()
    private let counters: Locked<HTTP2ClientStatistics>
    private let state = Locked(State())

    /// Connects when there is something to send.
    package init(origin: HTTP2Origin, configuration: HTTP2ClientConfiguration, logger: Logger) {
        self.origin = origin
        let capacity = configuration.maxConnections * configuration.streamsPerConnection
        counters = Locked(HTTP2ClientStatistics(capacity: capacity))
        startThread(named: "http2-client") { [mailbox, counters, state] in
            blockBrokenPipeSignal()
            let waiters = Self.runLoop(state, mailbox) {
                ClientLoop(
                    origin: origin, configuration: configuration, mailbox: mailbox, statistics: counters,
                    logger: logger)
            }
            // The loop and its TLS are gone by now: who was waiting may end the process.
            for waiter in waiters { waiter.resume() }
        }
    }

    /// - Returns: who waits for the end of it.
    private static func runLoop(
        _ state: Locked<State>, _ mailbox: Mailbox<ClientLoop.Message>, _ makeLoop: () -> ClientLoop
    ) -> [CheckedContinuation<Void, Never>] {
        let loop = makeLoop()
        loop.run()
        let waiters = state.withLock { state in
            state.isOver = true
            // What was posted while the loop ended.
            mailbox.empty().forEach(loop.take)
            defer { state.waiters = [] }
            return state.waiters
        }
        loop.queue.deliver()
        return waiters
    }

    deinit { mailbox.post(.close(.now)) }

    /// Queues requests; never blocks. They begin in this order, as soon as there is room.
    /// - Parameters:
    ///   - shared: fields that all have, beside their own.
    ///   - beginBefore: none is begun, and none is begun again, at or after this instant.
    ///   - deadline: from begun to answered; then the stream is reset.
    ///   - sink: gets every result exactly once, several at a time. It runs on the client's thread and must not block;
    ///     once the client is closed, on the caller's.
    package func submit(
        _ requests: [HTTP2Request], shared: HTTP2FieldBlock, beginBefore: ContinuousClock.Instant, deadline: Duration,
        priority: HTTP2Priority = .normal, sink: @escaping @Sendable ([HTTP2Result]) -> Void
    ) {
        let submission = Submission(
            requests: requests, shared: shared, beginBefore: beginBefore, deadline: deadline, priority: priority,
            sink: sink)
        let isOver = state.withLock { state in
            if !state.isOver { mailbox.post(.submit(submission)) }
            return state.isOver
        }
        guard isOver, !requests.isEmpty else { return }
        let now = ContinuousClock.now
        sink(requests.map { HTTP2Result(id: $0.id, outcome: .notSent(.closed), begunAt: nil, endedAt: now) })
    }

    /// Gives the connections made by then no more requests, lets those under way end, and makes new ones as needed: for
    /// servers that hold something against a connection.
    package func renewConnections(madeBy instant: ContinuousClock.Instant) { mailbox.post(.renew(instant)) }

    /// Requests that can be in flight at once: connections times what the server allows on each; as configured, before
    /// the first connection.
    package var capacity: Int { counters.withLock { $0.capacity } }

    package var statistics: HTTP2ClientStatistics { counters.withLock { $0 } }

    /// Ends what is queued as not sent, waits for what is in flight until the deadline, and then ends that, too. Returns
    /// when every result was given.
    package func close(by deadline: ContinuousClock.Instant) async {
        mailbox.post(.close(deadline))
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiters.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }
}

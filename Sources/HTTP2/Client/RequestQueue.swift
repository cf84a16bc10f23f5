/// Everything that waits to be begun, in order, and the results that wait to be handed over. Belongs to the client's
/// thread.
final class RequestQueue {
    /// A request that servers refuse again and again is given back to the caller, who can wait longer than we do.
    private static let maxSends = 8

    private struct Lane {
        /// Came back from a connection, and so are older than what was never taken.
        var returned = FIFO<QueuedRequest>()
        var submissions = FIFO<Submission>()
    }

    let clock: TurnClock
    private var transactional = Lane()
    private var normal = Lane()
    private var withResults: [Submission] = []
    private(set) var count = 0
    /// Not later than the first instant at which something queued is too late; nil if nothing is queued.
    private(set) var nextExpiry: ContinuousClock.Instant?
    /// Set once: what is queued ends, and so does what comes back.
    private(set) var isClosed = false

    init(clock: TurnClock) { self.clock = clock }

    var isEmpty: Bool { count == 0 }

    func append(_ submission: Submission) {
        guard !submission.requests.isEmpty else { return }
        guard !isClosed else {
            for request in submission.requests { end(QueuedRequest(request, of: submission), .closed) }
            return
        }
        count += submission.requests.count
        noteExpiry(submission.beginBefore)
        switch submission.priority {
        case .transactional: transactional.submissions.append(submission)
        case .normal: normal.submissions.append(submission)
        }
    }

    /// Takes the next request that may still be begun; those that may not, end as too late.
    func takeNext() -> QueuedRequest? {
        while !isEmpty {
            guard let next = takeNext(from: &transactional) ?? takeNext(from: &normal) else { return nil }
            count -= 1
            if clock.now < next.submission.beginBefore { return next }
            end(next, next.fault ?? .tooLate)
        }
        nextExpiry = nil
        return nil
    }

    /// A request that the server certainly did not process goes out again, if time allows.
    func putBack(_ queued: QueuedRequest, _ fault: HTTP2Fault) {
        guard !isClosed, clock.now < queued.submission.beginBefore, queued.sends < Self.maxSends else {
            end(queued, isClosed ? .closed : fault)
            return
        }
        var queued = queued
        queued.fault = fault
        count += 1
        noteExpiry(queued.submission.beginBefore)
        switch queued.submission.priority {
        case .transactional: transactional.returned.append(queued)
        case .normal: normal.returned.append(queued)
        }
    }

    func settle(_ queued: QueuedRequest, _ outcome: HTTP2Result.Outcome) {
        let result = HTTP2Result(
            id: queued.request.id, outcome: outcome, begunAt: queued.begunAt, endedAt: clock.now)
        if queued.submission.add(result) { withResults.append(queued.submission) }
    }

    /// Ends what has become too late.
    /// - Parameter fault: what to say about requests that no connection gave back.
    func expire(_ fault: HTTP2Fault) {
        guard let nextExpiry, nextExpiry <= clock.now else { return }
        removeAll(fault) { $0.beginBefore <= clock.now }
    }

    /// Ends all, since there is no address to send them to.
    func refuseAddress() { removeAll(.addressRefused) { _ in true } }

    func close() {
        isClosed = true
        removeAll(.closed) { _ in true }
    }

    /// Hands the results of this turn over.
    func deliver() {
        guard !withResults.isEmpty else { return }
        let ready = withResults
        withResults.removeAll(keepingCapacity: true)
        for submission in ready { submission.deliver() }
    }

    private func takeNext(from lane: inout Lane) -> QueuedRequest? {
        if let returned = lane.returned.first {
            lane.returned.removeFirst()
            return returned
        }
        guard let submission = lane.submissions.first else { return nil }
        let request = submission.requests[submission.next]
        submission.next += 1
        if submission.next == submission.requests.count { lane.submissions.removeFirst() }
        return QueuedRequest(request, of: submission)
    }

    private func removeAll(
        _ fault: HTTP2Fault, where matches: (Submission) -> Bool
    ) {
        remove(from: &transactional, fault, where: matches)
        remove(from: &normal, fault, where: matches)
        nextExpiry = nil
        for lane in [transactional, normal] {
            lane.returned.forEach { noteExpiry($0.submission.beginBefore) }
            lane.submissions.forEach { noteExpiry($0.beginBefore) }
        }
    }

    private func remove(
        from lane: inout Lane, _ fault: HTTP2Fault, where matches: (Submission) -> Bool
    ) {
        lane.returned.remove(where: { matches($0.submission) }) { queued in
            count -= 1
            end(queued, isClosed ? fault : queued.fault ?? fault)
        }
        lane.submissions.remove(where: matches) { submission in
            for request in submission.requests[submission.next...] {
                count -= 1
                end(QueuedRequest(request, of: submission), fault)
            }
        }
    }

    private func end(_ queued: QueuedRequest, _ fault: HTTP2Fault) {
        settle(queued, .notSent(fault))
    }

    private func noteExpiry(_ instant: ContinuousClock.Instant) {
        nextExpiry = nextExpiry.map { min($0, instant) } ?? instant
    }
}

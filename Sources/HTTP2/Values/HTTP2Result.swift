/// What became of one request. Exactly one result comes for each.
package struct HTTP2Result: Sendable {
    /// What is known of the server's side (RFC 9113 §8.7).
    package enum Outcome: Sendable {
        case answered(HTTP2Response)
        /// Certain: the server did not and will not process it. Sending it again is no repetition.
        case notSent(HTTP2Fault)
        /// Nobody knows: some of it may have reached the server.
        case mayHaveBeenSent(HTTP2Fault)
    }

    /// That of the request.
    package let id: UInt64
    package let outcome: Outcome
    /// When it was given to a connection, the last time if it was given to several; nil if never.
    package let begunAt: ContinuousClock.Instant?
    package let endedAt: ContinuousClock.Instant

    package init(
        id: UInt64, outcome: Outcome, begunAt: ContinuousClock.Instant?, endedAt: ContinuousClock.Instant
    ) {
        self.id = id
        self.outcome = outcome
        self.begunAt = begunAt
        self.endedAt = endedAt
    }
}

/// When a job that was not delivered is tried again, and when it is given up.
package struct RetryRule: Equatable, Sendable {
    /// Longest wait between two attempts, unless the provider asks for more.
    package static let longestWait = Duration.seconds(900)

    package enum Decision: Equatable, Sendable {
        case again(after: Duration)
        /// The message's life ends before another attempt could be made.
        case expired
        /// Its attempts are spent, or the retry horizon ends first.
        case exhausted
    }

    /// Before the second attempt, unjittered: 10 s for FCM, 2 s elsewhere.
    package var base: Duration
    package var maxAttempts: Int
    /// No attempt later than this after the first.
    package var horizon: Duration

    package init(base: Duration, maxAttempts: Int = 8, horizon: Duration = .seconds(3600)) {
        self.base = base
        self.maxAttempts = maxAttempts
        self.horizon = horizon
    }

    /// `min(15 min, base * 2^(attempts - 1))`, then between half and all of it.
    /// - Parameter draw: uniform in 0..<1.
    package func backoff(attempts: Int, draw: Double) -> Duration {
        let doublings = min(max(attempts - 1, 0), 20)
        return min(Self.longestWait, base * (1 << doublings)) * (0.5 + draw / 2)
    }

    /// - Parameters:
    ///   - attempts: made so far, the one that failed included.
    ///   - firstAttemptAt: when the first of them was begun.
    ///   - retryAfter: what the provider asked for; the longer wait counts.
    ///   - isCharged: an attempt that costs nothing ends by the message's life alone.
    package func decide(
        attempts: Int, firstAttemptAt: Instant, now: Instant, expiresAt: Instant, retryAfter: Duration?,
        isCharged: Bool = true, draw: Double
    ) -> Decision {
        if isCharged, attempts >= maxAttempts { return .exhausted }
        let wait = max(retryAfter ?? .zero, backoff(attempts: attempts, draw: draw))
        let due = now + wait
        let horizonEnd = firstAttemptAt + horizon
        if isCharged, horizonEnd < expiresAt, due > horizonEnd { return .exhausted }
        return due >= expiresAt ? .expired : .again(after: wait)
    }
}

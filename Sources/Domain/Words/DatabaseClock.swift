/// The database's clock as seen from here: one reading, carried forward by the monotonic clock.
package struct DatabaseClock: Sendable {
    private let reading: Instant
    private let takenAt: ContinuousClock.Instant
    /// The true reading is at most this far away, not counting how clocks drift.
    package let uncertainty: Duration
    /// When the answer arrived.
    package let readAt: ContinuousClock.Instant

    /// - Parameters:
    ///   - reading: what the database said.
    ///   - askedAt: when it was asked.
    ///   - takenAt: when the answer arrived.
    package init(reading: Instant, askedAt: ContinuousClock.Instant? = nil, takenAt: ContinuousClock.Instant) {
        self.reading = reading
        uncertainty = (askedAt?.duration(to: takenAt) ?? .zero) / 2
        self.takenAt = takenAt.advanced(by: .zero - uncertainty)
        readAt = takenAt
    }

    package func instant(at now: ContinuousClock.Instant) -> Instant { reading + takenAt.duration(to: now) }

    /// The other way round.
    package func moment(of instant: Instant) -> ContinuousClock.Instant {
        takenAt.advanced(by: instant - reading)
    }
}

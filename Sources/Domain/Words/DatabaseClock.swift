/// The database's clock as seen from here: one reading, carried forward by the monotonic clock.
package struct DatabaseClock: Sendable {
    private let reading: Instant
    private let takenAt: ContinuousClock.Instant

    /// - Parameters:
    ///   - reading: what the database said.
    ///   - takenAt: when the answer arrived; the true reading is at most a round trip later.
    package init(reading: Instant, takenAt: ContinuousClock.Instant) {
        self.reading = reading
        self.takenAt = takenAt
    }

    package func instant(at now: ContinuousClock.Instant) -> Instant { reading + takenAt.duration(to: now) }
}

/// How long to wait before the next attempt to connect: twice as long after each failure, with a random part, so that
/// the workers of a fleet do not come back all at once.
struct ReconnectDelay {
    private let first: Duration
    private let longest: Duration
    private(set) var failures = 0
    /// No attempt before.
    private(set) var notBefore: ContinuousClock.Instant?

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// - Parameter draw: random, 0 to 1.
    mutating func fail(at now: ContinuousClock.Instant, draw: Double) {
        failures += 1
        let full = min(longest, first * (1 << min(failures - 1, 20)))
        notBefore = now + full * (1 - draw / 2)
    }

    /// A connection was of use.
    mutating func succeed() {
        failures = 0
        notBefore = nil
    }

    func allows(_ now: ContinuousClock.Instant) -> Bool { notBefore.map { $0 <= now } ?? true }
}

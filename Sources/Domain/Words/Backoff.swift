/// Waits between tries of something that keeps failing: doubling, capped, jittered.
package struct Backoff: Sendable {
    package let first: Duration
    package let longest: Duration
    private var failures = 0

    package init(first: Duration = .milliseconds(100), longest: Duration = .seconds(5)) {
        self.first = first
        self.longest = longest
    }

    /// The next wait.
    /// - Parameter draw: uniform in 0..<1; the wait is between half and all of the doubled span.
    package mutating func next(draw: Double) -> Duration {
        let span = min(longest, first * (1 << min(failures, 16)))
        failures += 1
        return span * (0.5 + draw / 2)
    }

    package mutating func reset() { failures = 0 }
}

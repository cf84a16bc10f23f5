/// Spaces the attempts to connect while they fail: one at a time for the whole client, after delays that double.
struct ReconnectGate: Sendable {
    static let firstDelay = Duration.milliseconds(50)
    /// While a query waits, which thus goes out within a second of the server's return.
    static let urgentLimit = Duration.milliseconds(800)
    /// While none does.
    static let calmLimit = Duration.seconds(2)

    private(set) var failures = 0
    private var nextAttempt: ContinuousClock.Instant?
    /// Why the last attempt failed; nil after one that did not.
    private(set) var lastFailure: PostgresError?
    private var downSince: ContinuousClock.Instant?

    enum Permission: Equatable {
        case connect
        /// Ask again then: another may have had its turn.
        case wait(until: ContinuousClock.Instant)
    }

    /// - Parameter draw: from 0 up to 1, so that the processes of a fleet do not come all at once.
    mutating func ask(now: ContinuousClock.Instant, isUrgent: Bool, draw: Double) -> Permission {
        guard failures > 0 else { return .connect }
        let earliest = nextAttempt ?? now
        guard earliest <= now else { return .wait(until: earliest) }
        nextAttempt = now + delay(isUrgent: isUrgent, draw: draw)
        return .connect
    }

    mutating func fail(
        _ error: PostgresError, now: ContinuousClock.Instant, isUrgent: Bool, draw: Double
    ) {
        failures += 1
        lastFailure = error
        downSince = downSince ?? now
        nextAttempt = now + delay(isUrgent: isUrgent, draw: draw)
    }

    /// - Returns: for how long there was no connection; nil if there was one.
    mutating func succeed(now: ContinuousClock.Instant) -> Duration? {
        defer { self = ReconnectGate() }
        return downSince.map { $0.duration(to: now) }
    }

    /// Between half and all of what has doubled.
    private func delay(isUrgent: Bool, draw: Double) -> Duration {
        let doubled = Self.firstDelay * (1 << min(max(failures - 1, 0), 10))
        return min(doubled, isUrgent ? Self.urgentLimit : Self.calmLimit) * (0.5 + draw / 2)
    }
}

import Domain

/// Which provider token goes out: the newest, unless Apple found it too new. A plain value: the transport guards it.
struct APNsTokenChoice: Sendable {
    private var current: TokenState.Installed?
    private var previous: TokenState.Installed?
    private var heldBackUntil: ContinuousClock.Instant?

    /// - Returns: what to send with, and whether the newest is another key's, which old connections would refuse.
    mutating func choose(
        _ newest: TokenState.Installed, at now: ContinuousClock.Instant
    ) -> (token: TokenState.Installed, isOtherKey: Bool) {
        var isOtherKey = false
        if newest.generation != current?.generation {
            isOtherKey = current.map { $0.owner != newest.owner } ?? false
            (previous, current) = (isOtherKey ? nil : current, newest)
            heldBackUntil = nil
        }
        if let heldBackUntil, now < heldBackUntil, let previous, now < previous.usableUntil {
            return (previous, isOtherKey)
        }
        return (newest, isOtherKey)
    }

    /// `TooManyProviderTokenUpdates`: the token before goes on until Apple takes another, 20 minutes later.
    mutating func holdBack(_ generation: UInt64, at now: ContinuousClock.Instant) {
        guard current?.generation == generation, heldBackUntil == nil else { return }
        heldBackUntil = now + APNsTokenSource.shortestRenewal
    }

    /// `ExpiredProviderToken`: it is of no use any more.
    mutating func expire(_ generation: UInt64) {
        guard previous?.generation == generation else { return }
        previous = nil
        heldBackUntil = nil
    }
}

/// Leave to begin some requests of one run on one route within one slice of a second, by the database's clock.
package struct RateSlots: Hashable, Sendable {
    /// How long a slice lasts: what is not begun by its end dies with it.
    package static let life = Duration.milliseconds(50)

    package let beginsAt: Instant
    package let count: Int

    package init(beginsAt: Instant, count: Int) {
        self.beginsAt = beginsAt
        self.count = count
    }

    package var endsAt: Instant { beginsAt + Self.life }
}

/// What asking for slots gave.
package enum SlotGrant: Equatable, Sendable {
    /// No rate holds for that run and route.
    case unlimited
    /// In the order of their instants; none = what is in reach is taken.
    case slots([RateSlots])
}

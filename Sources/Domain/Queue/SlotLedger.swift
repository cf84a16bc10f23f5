/// The slots that a worker holds for one run and route, and when each may be used.
///
/// Requests are spread over the first half of a slice, so that they flow evenly and still have half its life to leave. A
/// margin at both ends covers what this process does not know of the database's clock, and some of the end is kept for the
/// way from here onto the wire.
package struct SlotLedger: Sendable {
    fileprivate struct Slice: Sendable {
        var slots: RateSlots
        var used = 0
    }

    private var slices: [Slice] = []

    /// Between the last instant at which a slot may be used and the end of its slice.
    package static let leaving = Duration.milliseconds(15)

    package init() {}

    package mutating func add(_ slots: [RateSlots]) {
        slices.append(contentsOf: slots.map { Slice(slots: $0) })
        slices.sort { $0.slots.beginsAt < $1.slots.beginsAt }
    }

    /// Takes slots of one slice that are due now.
    /// - Returns: how many, at most `limit`, and until when they must be used; nil = none is due.
    package mutating func take(
        atMost limit: Int, at now: Instant, margin: Duration
    ) -> (count: Int, endsAt: Instant)? {
        drop(at: now, margin: margin)
        for index in slices.indices {
            let due = slices[index].due(at: now, margin: margin)
            guard due > 0 else { continue }
            let count = min(due, limit)
            slices[index].used += count
            return (count, slices[index].slots.endsAt - (margin + Self.leaving))
        }
        return nil
    }

    /// Slots that may be used now or later.
    package mutating func left(at now: Instant, margin: Duration) -> Int {
        drop(at: now, margin: margin)
        return slices.reduce(0) { $0 + $1.slots.count - $1.used }
    }

    /// When the next slot is due; nil = there is none.
    package func nextDue(margin: Duration) -> Instant? {
        slices.lazy.filter { $0.used < $0.slots.count }.map { $0.dueAt($0.used, margin: margin) }.min()
    }

    /// Where the last slice that is held begins.
    package var reach: Instant? { slices.last?.slots.beginsAt }

    /// Forgets what is used or dead.
    package mutating func drop(at now: Instant, margin: Duration) {
        slices.removeAll { $0.used >= $0.slots.count || $0.slots.endsAt - now <= margin + Self.leaving }
    }
}

extension SlotLedger.Slice {
    /// When the slot of that position within the slice is due.
    fileprivate func dueAt(_ position: Int, margin: Duration) -> Instant {
        slots.beginsAt + margin + (RateSlots.life / 2 - margin) * position / max(1, slots.count)
    }

    fileprivate func due(at now: Instant, margin: Duration) -> Int {
        var due = 0
        while used + due < slots.count, dueAt(used + due, margin: margin) <= now { due += 1 }
        return due
    }
}

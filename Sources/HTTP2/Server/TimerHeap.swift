/// Values with the instant at which each is due, the earliest first.
struct TimerHeap<Value> {
    private var entries: [(at: ContinuousClock.Instant, value: Value)] = []

    /// When the first is due.
    var next: ContinuousClock.Instant? { entries.first?.at }

    mutating func insert(_ value: Value, at instant: ContinuousClock.Instant) {
        entries.append((instant, value))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if entries[parent].at <= entries[child].at { break }
            entries.swapAt(parent, child)
            child = parent
        }
    }

    /// Takes the first out if it is due.
    mutating func take(dueAt now: ContinuousClock.Instant) -> Value? {
        guard let first = entries.first, first.at <= now else { return nil }
        let last = entries.removeLast()
        if entries.isEmpty { return first.value }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].at < entries[least].at {
                least = child
            }
            if least == parent { return first.value }
            entries.swapAt(least, parent)
            parent = least
        }
    }
}

/// Changes of faults and latency planned beforehand, one a line: when, and what.
///
///     # comments and empty lines are skipped
///     @10000  e503=20%          after so many sends
///     30s     none              so long after the first send
///     45s     latency=200ms
struct FaultScript: Sendable {
    private struct Step {
        /// Sends, or nanoseconds.
        let moment: Int64
        let change: String
    }

    // Each in order, the next one last.
    private var bySends: [Step] = []
    private var byTime: [Step] = []
    private var start: ContinuousClock.Instant?
    private var sends: Int64 = 0

    static let none = FaultScript()

    private init() {}

    init(parsing text: String) throws(FaultSyntaxError) {
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" })
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 else { throw FaultSyntaxError("'\(line)' says when, but not what") }
            let change = String(words[1])
            var check = FaultSettings(seed: 0)
            try check.change(change)
            if first.hasPrefix("@") {
                guard let count = Int64(first.dropFirst()), count >= 0 else {
                    throw FaultSyntaxError("'\(first)' is no number of sends; write @10000")
                }
                bySends.append(Step(moment: count, change: change))
            } else {
                let nanoseconds = Int64(try Latency.duration(first) / .nanoseconds(1))
                byTime.append(Step(moment: nanoseconds, change: change))
            }
        }
        // Stable, reversed: of steps at the same moment, the one that is written first comes first.
        bySends = bySends.reversed().sorted { $0.moment > $1.moment }
        byTime = byTime.reversed().sorted { $0.moment > $1.moment }
    }

    /// Counts a send.
    /// - Returns: the changes that are due before it.
    mutating func due(at now: ContinuousClock.Instant) -> [String] {
        if bySends.isEmpty, byTime.isEmpty { return [] }
        let start = start ?? now
        self.start = start
        let elapsed = Int64((now - start) / .nanoseconds(1))
        var changes: [String] = []
        while let step = bySends.last, step.moment <= sends { changes.append(bySends.removeLast().change) }
        while let step = byTime.last, step.moment <= elapsed { changes.append(byTime.removeLast().change) }
        sends += 1
        return changes
    }
}

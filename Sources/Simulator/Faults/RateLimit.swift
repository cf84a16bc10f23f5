/// A quota of messages per span of time: a bucket that is refilled at the start of each span (fcm.md §9).
struct RateLimit: Sendable {
    let count: Int
    let span: Duration
    private var start: ContinuousClock.Instant?
    private var left: Int

    /// - Parameter text: `600000/min` or `1000/s`.
    init(parsing text: String) throws(FaultSyntaxError) {
        let sides = text.split(separator: "/")
        let spans: [Substring: Duration] = ["s": .seconds(1), "min": .seconds(60), "h": .seconds(3600)]
        guard sides.count == 2, let count = Int(sides[0]), count > 0, let span = spans[sides[1]] else {
            throw FaultSyntaxError("'\(text)' is no rate; write 1000/s or 600000/min")
        }
        (self.count, self.span, left) = (count, span, count)
    }

    /// Takes one message out of the quota.
    /// - Returns: nil, or how long to wait when it is used up.
    mutating func take(at now: ContinuousClock.Instant) -> Duration? {
        if let start, now < start + span {
            guard left > 0 else { return start + span - now }
        } else {
            (start, left) = (now, count)
        }
        left -= 1
        return nil
    }
}

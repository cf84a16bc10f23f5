import Threading

/// Which faults were shown lately, and how often each has come again since: one for the whole process, so that whatever
/// is logged next also tells what was held back.
package final class LogSamples: Sendable {
    /// What makes two faults the same one: who says it, what is said, and of whom.
    struct Kind: Hashable, Sendable {
        let label: String
        let level: Logger.Level
        let message: String
        let subject: [String]
    }

    /// An event with the handler that it was meant for.
    struct Line: Sendable {
        let handler: any LogHandler
        var event: LogEvent
    }

    private struct Sample: Sendable {
        var shownAt: ContinuousClock.Instant
        /// The last of those that came since.
        var held: Line?
        var heldBack = 0
    }

    /// A fault of each of many runs may come once: those that came once only are forgotten then.
    private static let mostKinds = 512

    private let interval: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let samples = Locked<[Kind: Sample]>([:])

    package init(
        interval: Duration = .seconds(10), now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.interval = interval
        self.now = now
    }

    /// How many kinds are remembered.
    var count: Int { samples.withLock(\.count) }

    /// What is to be written now, in this order: what was held back for longer than the interval, and the line itself
    /// unless it is held back in its turn.
    /// - Parameter kind: nil = the line is no fault, and passes.
    func pass(_ line: Line, as kind: Kind?) -> [Line] {
        let now = now()
        return samples.withLock { samples in
            var lines = takeOverdue(from: &samples, except: kind, now)
            guard let kind else { return lines + [line] }
            if var sample = samples[kind], sample.shownAt + interval > now {
                sample.held = line
                sample.heldBack += 1
                samples[kind] = sample
                return lines
            }
            lines.append(line.saying(samples[kind]?.heldBack ?? 0))
            samples[kind] = Sample(shownAt: now)
            return lines
        }
    }

    /// The last of each fault that nobody has shown yet, once its interval is over: it may have been the last for good.
    private func takeOverdue(
        from samples: inout [Kind: Sample], except current: Kind?, _ now: ContinuousClock.Instant
    ) -> [Line] {
        var lines: [Line] = []
        for (kind, sample) in samples where kind != current && sample.shownAt + interval <= now {
            if let held = sample.held {
                lines.append(held.saying(sample.heldBack - 1))
                samples[kind] = Sample(shownAt: now)
            } else if samples.count > Self.mostKinds {
                samples[kind] = nil
            }
        }
        return lines
    }
}

extension LogSamples.Line {
    /// - Parameter times: how many like it were held back before it.
    fileprivate func saying(_ times: Int) -> Self {
        guard times > 0 else { return self }
        var line = self
        line.event.metadata = (event.metadata ?? [:]).merging(["repeated": .stringConvertible(times)]) { $1 }
        return line
    }
}

import Threading

/// Lets a fault that repeats through once per interval, so that a provider that is down does not fill a disk.
///
/// Warnings and above are counted by label, level and message; the next one let through says in `repeated` how many
/// were held back before it. Everything below passes as it is.
package struct SampledLogHandler: LogHandler {
    private struct Kind: Hashable, Sendable {
        let level: Logger.Level
        let message: String
    }

    private struct Sample: Sendable {
        let shownAt: ContinuousClock.Instant
        var heldBack = 0
    }

    private var handler: any LogHandler
    private let interval: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    /// Shared by the copies of a handler. As large as the number of messages in the code, which are constants.
    private let samples = Locked<[Kind: Sample]>([:])

    package init(
        _ handler: any LogHandler, interval: Duration = .seconds(10),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.handler = handler
        self.interval = interval
        self.now = now
    }

    package var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    package func log(event: LogEvent) {
        guard event.level >= .warning else { return handler.log(event: event) }
        let kind = Kind(level: event.level, message: event.message.description)
        guard let heldBack = heldBackIfDue(kind) else { return }
        var event = event
        if heldBack > 0 { event.metadata = (event.metadata ?? [:]).merging(repeated(heldBack)) { $1 } }
        handler.log(event: event)
    }

    private func repeated(_ times: Int) -> Logger.Metadata { ["repeated": .stringConvertible(times)] }

    /// How many of the kind were held back since one was shown, or nil if this one is to be held back too.
    private func heldBackIfDue(_ kind: Kind) -> Int? {
        let now = now()
        return samples.withLock { samples in
            if let sample = samples[kind], sample.shownAt + interval > now {
                samples[kind]?.heldBack += 1
                return nil
            }
            let heldBack = samples[kind]?.heldBack ?? 0
            samples[kind] = Sample(shownAt: now)
            return heldBack
        }
    }
}

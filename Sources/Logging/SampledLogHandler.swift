/// Lets a fault that repeats through once per interval, so that a provider that is down does not fill a disk.
///
/// Warnings and above are counted by label, level, message and subject (which run, route or credential). What is shown
/// says in `repeated` how many like it were held back before it: shown and repeated together are all there were. The last
/// one of a fault that ended is shown with whatever is logged next. Everything below a warning passes as it is.
package struct SampledLogHandler: LogHandler {
    /// The metadata that say of whom a fault is told; the rest, such as the error's text, may differ each time.
    private static let subjectKeys = ["app", "campaign", "credential", "loop", "route", "run"]

    private var handler: any LogHandler
    private let label: String
    private let samples: LogSamples

    /// - Parameter samples: of the whole process.
    package init(_ handler: any LogHandler, label: String, samples: LogSamples) {
        self.handler = handler
        self.label = label
        self.samples = samples
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
        let lines = samples.pass(LogSamples.Line(handler: handler, event: event), as: kind(of: event))
        for line in lines { line.handler.log(event: line.event) }
    }

    /// nil = no fault.
    private func kind(of event: LogEvent) -> LogSamples.Kind? {
        guard event.level >= .warning else { return nil }
        let subject = Self.subjectKeys.map { key in
            (event.metadata?[key] ?? handler.metadata[key]).map { "\($0)" } ?? ""
        }
        return LogSamples.Kind(
            label: label, level: event.level, message: event.message.description, subject: subject)
    }
}

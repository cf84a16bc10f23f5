import Glibc
import Logging

/// Sets up the process's log on standard error; faults that repeat are sampled and counted.
/// - Parameter format: `text` or `json`; nil = text on a terminal, JSON elsewhere.
/// - Throws: `CommandFailure` that names both settings where both are wrong.
func bootstrapLogging(level name: String, format: String?) throws {
    let level = Logger.Level(rawValue: name)
    var faults: [String] = []
    if level == nil {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        faults.append("log-level: '\(name)' is unknown; use one of \(names)")
    }
    if let format, !["text", "json"].contains(format) {
        faults.append("log-format: '\(format)' is unknown; use text or json")
    }
    guard let level, faults.isEmpty else { throw CommandFailure(faults.joined(separator: "\n")) }
    let isText = format.map { $0 == "text" } ?? (isatty(STDERR_FILENO) == 1)
    let samples = LogSamples()
    LoggingSystem.bootstrap { label in
        var handler: any LogHandler = isText ? TextLogHandler(label: label) : JSONLogHandler(label: label)
        handler.logLevel = level
        return SampledLogHandler(handler, label: label, samples: samples)
    }
}

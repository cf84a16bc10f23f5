import Glibc
import Logging

/// Sets up the process's log on standard error.
/// - Parameter format: `text` or `json`; nil = text on a terminal, JSON elsewhere.
/// - Throws: `CommandFailure` for a level that is none.
func bootstrapLogging(level name: String, format: String?) throws {
    guard let level = Logger.Level(rawValue: name) else {
        throw CommandFailure("log-level: '\(name)' is unknown; use trace, debug, info, warning or error")
    }
    let isText = format.map { $0 == "text" } ?? (isatty(STDERR_FILENO) == 1)
    LoggingSystem.bootstrap { label in
        var handler: any LogHandler = isText ? TextLogHandler(label: label) : JSONLogHandler(label: label)
        handler.logLevel = level
        return handler
    }
}

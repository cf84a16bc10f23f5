/// Where messages go. A value: changing the level or the metadata of a copy leaves the original as it is.
package protocol LogHandler: Sendable {
    var logLevel: Logger.Level { get set }
    var metadata: Logger.Metadata { get set }

    /// Only called for events at or above `logLevel`.
    func log(event: LogEvent)
}

extension LogHandler {
    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// The logger's metadata and the event's own, which wins, in order of their keys.
    func merged(with own: Logger.Metadata?) -> [(key: String, value: Logger.MetadataValue)] {
        metadata.merging(own ?? [:]) { _, own in own }.sorted { $0.key < $1.key }
    }
}

/// One message on its way to a handler.
package struct LogEvent: Sendable {
    package let level: Logger.Level
    package let message: Logger.Message
    package var metadata: Logger.Metadata?
    package let file: String
    package let function: String
    package let line: UInt

    package init(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        self.level = level
        self.message = message
        self.metadata = metadata
        self.file = file
        self.function = function
        self.line = line
    }
}

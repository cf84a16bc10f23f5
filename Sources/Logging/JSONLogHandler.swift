/// One JSON object per line, for whatever collects logs: `time` (UTC), `level`, `label`, `message`, then the metadata.
package struct JSONLogHandler: LogHandler {
    private static let ownKeys: Set<String> = ["time", "level", "label", "message"]

    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let label: String
    private let write: @Sendable (String) -> Void

    /// - Parameter write: gets whole lines, with their line feed.
    package init(
        label: String, logLevel: Logger.Level = .info,
        write: @escaping @Sendable (String) -> Void = { StandardStream.error.write($0) }
    ) {
        self.label = label
        self.logLevel = logLevel
        self.write = write
    }

    package func log(event: LogEvent) {
        let own: [(key: String, value: Logger.MetadataValue)] = [
            ("time", .string(WallClock.timestamp())), ("level", .string(event.level.rawValue)),
            ("label", .string(label)), ("message", .string(event.message.description)),
        ]
        // Two fields of one name would leave it to the reader which one counts.
        let fields = merged(with: event.metadata).map { field in
            (key: Self.ownKeys.contains(field.key) ? "metadata_" + field.key : field.key, value: field.value)
        }
        var json = JSONText()
        json.append(own + fields)
        write(json.text + "\n")
    }
}

/// Aligned text for a terminal: time (UTC), level, label, message, then `key=value`.
package struct TextLogHandler: LogHandler {
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
        let fields = merged(with: event.metadata).map { " \($0.key)=\(Self.plain($0.value))" }
        let head = "\(WallClock.timestamp()) \(Self.padded(event.level.rawValue, 8)) \(Self.padded(label, 12)) "
        write(head + Self.padded(event.message.description, fields.isEmpty ? 0 : 32) + fields.joined() + "\n")
    }

    /// As it is if it is one word, else as a JSON string, so that no value can break the line or forge a field.
    private static func plain(_ value: Logger.MetadataValue) -> String {
        var json = JSONText()
        switch value {
        case .string, .stringConvertible:
            let text = value.description
            let needsQuotes =
                text.isEmpty
                || text.unicodeScalars.contains { $0.value <= 0x20 || "\"=\u{7F}".unicodeScalars.contains($0) }
            guard needsQuotes else { return text }
            json.append(text)
        case .dictionary, .array:
            json.append(value)
        }
        return json.text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

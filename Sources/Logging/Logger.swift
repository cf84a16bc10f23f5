// Stand-in for swift-log 1.13 (https://github.com/apple/swift-log): the same module name and call sites, of which only
// those that this project uses exist. Taking the package instead is a line in the manifest and one folder less, after
// the handlers here (TextLogHandler, JSONLogHandler, SampledLogHandler, StandardStream) have moved to a module of ours.

/// Emits log messages. Messages are constant strings; what varies goes into metadata. No address, key or token may.
package struct Logger: Sendable {
    package let label: String
    package var handler: any LogHandler

    /// A logger whose handler comes from `LoggingSystem.bootstrap(_:)`.
    package init(label: String) {
        self.init(label: label, factory: LoggingSystem.makeHandler)
    }

    package init(label: String, factory: (String) -> any LogHandler) {
        self.label = label
        handler = factory(label)
    }

    /// Messages below it are dropped before they are made.
    package var logLevel: Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    /// What every message of this logger, and of its later copies, carries.
    package subscript(metadataKey key: String) -> MetadataValue? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    package func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {
        guard level >= logLevel else { return }
        let event = LogEvent(
            level: level, message: message(), metadata: metadata(), file: file, function: function, line: line)
        handler.log(event: event)
    }
}

extension Logger {
    package typealias Metadata = [String: MetadataValue]

    /// How much a message matters, least first.
    package enum Level: String, CaseIterable, Comparable, Sendable {
        case trace, debug, info, notice, warning, error, critical

        private var rank: Int {
            switch self {
            case .trace: 0
            case .debug: 1
            case .info: 2
            case .notice: 3
            case .warning: 4
            case .error: 5
            case .critical: 6
            }
        }

        package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    /// A constant, so that messages can be counted and searched for. The package's own type allows interpolation; here it
    /// does not build.
    package struct Message: ExpressibleByStringLiteral, CustomStringConvertible, Equatable, Sendable {
        package let description: String

        package init(stringLiteral value: StaticString) { description = "\(value)" }
    }
}

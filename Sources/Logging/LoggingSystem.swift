import Threading

/// Chooses the handler of the loggers that are made after it. Until then they write text to standard error.
package enum LoggingSystem {
    private static let factory = Locked<@Sendable (String) -> any LogHandler> { TextLogHandler(label: $0) }

    /// Once per process, before the first logger is made.
    package static func bootstrap(_ factory: @escaping @Sendable (_ label: String) -> any LogHandler) {
        self.factory.withLock { $0 = factory }
    }

    static func makeHandler(label: String) -> any LogHandler {
        let make = factory.withLock { $0 }
        return make(label)
    }
}

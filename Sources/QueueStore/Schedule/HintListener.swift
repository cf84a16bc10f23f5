import Logging
import Postgres

/// Hears that work arrived, over a connection of its own that listens.
///
/// A hint may be missing: while the connection is down the waits simply last their time.
package actor HintListener {
    /// Whoever makes a run says so here, in the transaction that makes it.
    package static let channel = "pushfleet_run"

    private let connection: PostgresConnection
    private let logger: Logger
    private var isListening = false

    package init(_ configuration: PostgresConfiguration, logger: Logger = Logger(label: "pushfleet.queue")) {
        connection = PostgresConnection(configuration, logger: logger)
        self.logger = logger
    }

    package func wait(atMost span: Duration) async {
        let deadline = ContinuousClock.now + span
        do {
            if !isListening {
                try await connection.connect(deadline: span)
                try await connection.listen(Self.channel, deadline: span)
                // What was said before is not heard: look at once.
                isListening = true
                return
            }
            _ = try await connection.notifications(timeout: span)
        } catch {
            isListening = false
            logger.debug("no hints for now", metadata: ["error": "\(error)"])
            do {
                try await Task.sleep(until: deadline, clock: .continuous)
            } catch {
                // Cancelled: the caller looks at that itself.
            }
        }
    }

    package func close() async { await connection.close() }
}

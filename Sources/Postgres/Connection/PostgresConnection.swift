import Logging
import Synchronization
import Threading

/// A connection to PostgreSQL on a thread of its own, where libpq may block.
///
/// Statements run one after the other, in the order of the calls. A statement that was sent runs to its end or to its
/// deadline, whatever becomes of the task. When its connection is lost every call throws `connectionLost` until
/// `connect` is called again. Values of it come from a `PostgresClient`, or are made for `LISTEN`.
package actor PostgresConnection {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor = ThreadExecutor(name: "postgres")
    private nonisolated let configuration: PostgresConfiguration
    private nonisolated let logger: Logger
    nonisolated let interruption = Interruption()
    private nonisolated let connected = Atomic(false)
    private nonisolated let idle = Atomic(true)
    private nonisolated let closing = Atomic(false)

    private var session: Session?
    /// Where a list of hosts begins: with the one that answered last.
    private var firstHost = 0

    /// Does not connect yet.
    package init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    deinit { executor.shutdown() }

    /// As of the last call: a connection that broke since then shows with the next one.
    package nonisolated var isConnected: Bool { connected.load(ordering: .acquiring) }

    /// Not in a transaction, nor amid a COPY.
    nonisolated var isIdle: Bool { idle.load(ordering: .acquiring) }

    /// Connects, in place of any connection that there was.
    /// - Throws: `connectionFailed`, or what the server refused it with.
    package nonisolated func connect(deadline: Duration = .seconds(10)) async throws(PostgresError) {
        try await connect(until: .now + deadline)
    }

    /// Sends one statement and waits for its rows.
    package nonisolated func query(
        _ query: PostgresQuery, deadline: Duration = .seconds(10)
    ) async throws(PostgresError) -> PostgresRows {
        try await execute(query, until: .now + deadline)
    }

    /// Ends the connection. Calls that wait for notifications return.
    package nonisolated func close() async {
        closing.store(true, ordering: .releasing)
        interruption.signal()
        await disconnect()
    }

    /// Someone waits for this thread in `close`.
    nonisolated var isClosing: Bool { closing.load(ordering: .acquiring) }

    func connect(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        disconnect()
        closing.store(false, ordering: .releasing)
        session = try Session.open(configuration, interruption: interruption, firstHost: &firstHost, until: deadline)
        publish()
        logger.debug("Connected to PostgreSQL")
    }

    func execute(
        _ query: PostgresQuery, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresRows {
        try perform { session throws(PostgresError) in
            try session.execute(query, preparing: configuration.preparedStatements, until: deadline)
        }
    }

    /// Looks whether the server still holds its end.
    func check() {
        if session?.isStillOpen() == false { session = nil }
        publish()
    }

    /// Runs `body` with the open session, and closes that when it cannot be used any more.
    /// - Parameter amid: whether the server is in the middle of something, so that its silence is not expected.
    func perform<Result>(
        amid: Bool = false, _ body: (Session) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        defer { publish() }
        guard let session, amid || session.isStillOpen() else {
            self.session = nil
            throw PostgresError(.connectionLost, "there is no connection to PostgreSQL")
        }
        do {
            return try body(session)
        } catch {
            if error.code == .deadlineExceeded || error.code == .malformedResult { abandon() }
            // A server that became a standby stays one: the next connection may find the primary.
            if error.code == .connectionLost || error.code == .readOnly { self.session = nil }
            throw error
        }
    }

    /// Gives up what the session is in the middle of, and with it the session, since where it stands is unknown. One
    /// between statements stays.
    func abandon() {
        guard let session, !session.isIdle else { return }
        session.cancelStatement()
        self.session = nil
        publish()
    }

    func disconnect() {
        session = nil
        interruption.clear()
        publish()
    }

    /// Says to other threads how this one stands.
    private func publish() {
        connected.store(session != nil, ordering: .releasing)
        idle.store(session.map { $0.isIdle && !$0.isInTransaction } ?? true, ordering: .releasing)
    }
}

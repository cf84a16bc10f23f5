import COpenSSL
import Glibc
import Logging
import Threading

/// The client's event loop: everything here belongs to its one thread.
final class ClientLoop {
    enum Message: Sendable {
        case submit(Submission)
        case resolved([SocketAddress])
        /// Give the connections made by then no more requests.
        case renew(ContinuousClock.Instant)
        /// Take no more, and end what is in flight by then.
        case close(ContinuousClock.Instant)
    }

    static let mailboxToken: UInt64 = 0

    let origin: HTTP2Origin
    let configuration: HTTP2ClientConfiguration
    let mailbox: Mailbox<Message>
    let statistics: Locked<HTTP2ClientStatistics>
    let logger: Logger
    let clock = TurnClock()
    let queue: RequestQueue
    let retained: RetainedFields
    let poll = EventPoll()
    let callbacks = ClientCallbacks()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// Set if the host is an address in text, which nobody needs to look up.
    let literalAddress: SocketAddress?

    /// Made when first needed, and anew after a certificate was not accepted.
    var context: TLSContext?
    var dials: [Dial] = []
    var connections: [ClientConnection] = []
    var isResolving = false
    var reconnect: ReconnectDelay
    var dialCount = 0
    var opened = 0
    var failed = 0
    var lastAnsweredAt: ContinuousClock.Instant?
    /// Streams that the server allowed on the last connection.
    var lastLimit: Int
    /// Something came back to the queue after this turn had looked at it.
    var needsAnotherTurn = false
    private var closeBy: ContinuousClock.Instant?
    private var lastToken = ClientLoop.mailboxToken

    init(
        origin: HTTP2Origin, configuration: HTTP2ClientConfiguration, mailbox: Mailbox<Message>,
        statistics: Locked<HTTP2ClientStatistics>, logger: Logger
    ) {
        self.origin = origin
        self.configuration = configuration
        self.mailbox = mailbox
        self.statistics = statistics
        self.logger = logger
        queue = RequestQueue(clock: clock)
        retained = RetainedFields(configuration.retainedFields)
        literalAddress = SocketAddress.resolve(origin.host, port: origin.port, numeric: true).first
        reconnect = ReconnectDelay(first: configuration.reconnectDelay, longest: configuration.maxReconnectDelay)
        lastLimit = configuration.streamsPerConnection
    }

    deinit { buffer.deallocate() }

    /// Runs until it was told to close and has nothing left.
    func run() {
        poll.add(mailbox.descriptor, token: Self.mailboxToken)
        while closeBy == nil || !connections.isEmpty { turn() }
    }

    func nextToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    private func turn() {
        let count = poll.wait(until: needsAnotherTurn ? clock.now : nextInstant())
        needsAnotherTurn = false
        clock.tick()
        for index in 0..<count { dispatch(poll[index]) }
        checkDials()
        checkConnections()
        let isReachable = connections.contains { $0.phase == .open } || reconnect.failures == 0
        queue.expire(isReachable ? .tooLate : .connectFailed)
        beginQueued()
        openConnections()
        flushConnections()
        publish()
        queue.deliver()
    }

    private func dispatch(_ event: EventPoll.Event) {
        if event.token == Self.mailboxToken {
            mailbox.empty().forEach(take)
        } else if let connection = connections.first(where: { $0.token == event.token }) {
            serve(connection, event)
        } else if let dial = dials.first(where: { $0.attempts.contains { $0.token == event.token } }) {
            advance(dial, event.token)
        }
    }

    /// Does what another thread asked for.
    func take(_ message: Message) {
        switch message {
        case .submit(let submission): queue.append(submission)
        case .resolved(let addresses): begin(with: addresses)
        case .renew(let instant):
            for connection in connections where connection.phase == .open && connection.madeAt <= instant {
                connection.retire()
            }
        case .close(let deadline): close(by: deadline)
        }
    }

    private func close(by deadline: ContinuousClock.Instant) {
        closeBy = closeBy.map { min($0, deadline) } ?? deadline
        queue.close()
        dials.removeAll()
        for connection in connections { connection.retire() }
    }

    var isPastClosing: Bool { closeBy.map { $0 <= clock.now } ?? false }

    /// When something is to be done even if nothing happens.
    private func nextInstant() -> ContinuousClock.Instant? {
        var next = [queue.nextExpiry, closeBy].compactMap { $0 }
        for dial in dials { next += [dial.giveUpAt, dial.nextAttemptAt].compactMap { $0 } }
        for connection in connections { next += nextInstants(of: connection) }
        // While a connection is being made, its end is what to wait for.
        if !queue.isEmpty, dials.isEmpty, let notBefore = reconnect.notBefore, notBefore > clock.now {
            next.append(notBefore)
        }
        return next.min()
    }

    private func nextInstants(of connection: ClientConnection) -> [ContinuousClock.Instant] {
        var next = [connection.nextDeadline]
        switch connection.phase {
        case .handshaking, .awaitingSettings: next.append(connection.openBy)
        case .open:
            next.append(connection.pingDeadline)
            if connection.inFlight == 0 { next.append(connection.idleSince + configuration.idleTimeout) }
        case .draining: break
        }
        return next.compactMap { $0 }
    }

    private func publish() {
        let open = connections.filter { $0.phase == .open }
        if let limit = open.last?.limit { lastLimit = limit }
        let unopened = max(0, configuration.maxConnections - open.count)
        let now = HTTP2ClientStatistics(
            capacity: open.reduce(unopened * lastLimit) { $0 + $1.limit },
            inFlight: connections.reduce(0) { $0 + $1.inFlight }, queued: queue.count, openConnections: open.count,
            connectingConnections: connections.count { $0.phase == .handshaking || $0.phase == .awaitingSettings },
            drainingConnections: connections.count { $0.phase == .draining },
            connectionsOpened: opened, connectionsFailed: failed, lastAnsweredAt: lastAnsweredAt)
        statistics.withLock { $0 = now }
    }
}

import CLinux
import CNghttp2
import Glibc
import Logging
import Threading

/// The server's event loop: accepts, reads, answers. Everything here belongs to its one thread.
final class ServerLoop {
    enum Message: Sendable {
        case changeMaxConcurrentStreams(UInt32)
        case stop
    }

    private enum Timer {
        case response(connection: UInt64, stream: Int32, HTTP2ServerResponse)
        case release(connection: UInt64)
    }

    private static let mailboxToken: UInt64 = 0
    private static let listenerToken = UInt64.max

    private let configuration: HTTP2ServerConfiguration
    private let context: TLSContext
    private let listener: Int32
    private let mailbox: Mailbox<Message>
    private let statistics: Locked<HTTP2ServerStatistics>
    private let logger: Logger
    private let handler: @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    private let poll = EventPoll()
    private let callbacks = ServerCallbacks()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private var connections: [UInt64: ServerConnection] = [:]
    private var timers = TimerHeap<Timer>()
    private var accepted: UInt64 = 0
    private var maxConcurrentStreams: UInt32
    private var isStopped = false

    /// - Parameter listener: taken over.
    init(
        configuration: HTTP2ServerConfiguration, context: TLSContext, listener: Int32, mailbox: Mailbox<Message>,
        statistics: Locked<HTTP2ServerStatistics>, logger: Logger,
        handler: @escaping @Sendable (HTTP2ServerRequest) -> HTTP2ServerAction
    ) {
        self.configuration = configuration
        self.context = context
        self.listener = listener
        self.mailbox = mailbox
        self.statistics = statistics
        self.logger = logger
        self.handler = handler
        maxConcurrentStreams = configuration.maxConcurrentStreams
    }

    deinit { buffer.deallocate() }

    /// Runs until it is told to stop.
    func run() {
        poll.add(mailbox.descriptor, token: Self.mailboxToken)
        poll.add(listener, token: Self.listenerToken)
        while !isStopped {
            let count = poll.wait(until: timers.next)
            for index in 0..<count {
                let event = poll[index]
                switch event.token {
                case Self.mailboxToken: takeMessages()
                case Self.listenerToken: accept()
                default: if let connection = connections[event.token] { serve(connection) }
                }
            }
            fireTimers()
        }
        connections.removeAll()
        close(listener)
    }

    private func takeMessages() {
        for message in mailbox.empty() {
            switch message {
            case .stop: isStopped = true
            case .changeMaxConcurrentStreams(let limit):
                maxConcurrentStreams = limit
                for connection in connections.values where !connection.isHeld {
                    connection.change(maxConcurrentStreams: limit)
                    send(connection)
                }
            }
        }
    }

    private func accept() {
        while true {
            let file = Glibc.accept(listener, nil, nil)
            guard file >= 0 else { return }
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
            _ = fcntl(file, F_SETFL, O_NONBLOCK)
            var one: Int32 = 1
            setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
            guard let channel = context.accepted(file: file) else {
                close(file)
                continue
            }
            accepted += 1
            let connection = ServerConnection(
                id: accepted, channel: channel, callbacks: callbacks, configuration: configuration,
                maxConcurrentStreams: maxConcurrentStreams, handler: handler)
            connections[accepted] = connection
            poll.add(file, token: accepted)
            statistics.withLock {
                $0.acceptedConnections += 1
                $0.openConnections += 1
            }
        }
    }

    private func serve(_ connection: ServerConnection) {
        if connection.isHeld { return }
        if !connection.isEstablished, !establish(connection) { return }
        let requests = connection.requests
        let isAlive = connection.receive(with: buffer)
        if connection.requests > requests {
            let added = connection.requests - requests
            statistics.withLock {
                $0.requests += added
                $0.maxOpenStreams = max($0.maxOpenStreams, connection.openStreams)
            }
        }
        for answer in connection.later {
            let timer = Timer.response(connection: connection.id, stream: answer.stream, answer.response)
            timers.insert(timer, at: .now + answer.delay)
        }
        connection.later.removeAll(keepingCapacity: true)
        if isAlive { send(connection) } else { drop(connection) }
    }

    /// - Returns: whether the connection may be read.
    private func establish(_ connection: ServerConnection) -> Bool {
        switch connection.channel.handshake() {
        case .blocked: return false
        case .failed:
            drop(connection)
            return false
        case .done: break
        }
        connection.isEstablished = true
        guard configuration.settingsDelay > .zero else { return true }
        connection.isHeld = true
        poll.remove(connection.channel.file)
        timers.insert(.release(connection: connection.id), at: .now + configuration.settingsDelay)
        return false
    }

    private func fireTimers() {
        guard timers.next != nil else { return }
        let now = ContinuousClock.now
        while let timer = timers.take(dueAt: now) {
            switch timer {
            case .response(let id, let stream, let response):
                guard let connection = connections[id] else { continue }
                connection.respond(stream, response)
                send(connection)
            case .release(let id):
                guard let connection = connections[id] else { continue }
                connection.isHeld = false
                poll.add(connection.channel.file, token: id)
                serve(connection)
            }
        }
    }

    private func send(_ connection: ServerConnection) {
        let progress = connection.channel.flush(connection.session)
        let waits = progress == .blocked
        if waits != connection.waitsForRoom {
            connection.waitsForRoom = waits
            poll.modify(connection.channel.file, token: connection.id, writable: waits)
        }
        if progress == .failed || (progress == .done && connection.isFinished) { drop(connection) }
    }

    private func drop(_ connection: ServerConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        switch connection.end {
        case .hard:
            var reset = linger(l_onoff: 1, l_linger: 0)
            let size = socklen_t(MemoryLayout<linger>.size)
            setsockopt(connection.channel.file, SOL_SOCKET, SO_LINGER, &reset, size)
        case .orderly, nil:
            if connection.isEstablished { connection.channel.sayGoodbye() }
        }
        statistics.withLock { $0.openConnections -= 1 }
        logger.debug("connection ended", metadata: ["connection": "\(connection.id)"])
    }
}

import CNghttp2
import Glibc
import Logging

extension ClientLoop {
    /// How long a connection that was silent may take to answer a PING.
    private static let pingTimeout = Duration.seconds(3)

    /// A socket can be read, or takes more.
    func serve(_ connection: ClientConnection, _ event: EventPoll.Event) {
        if event.isWritable { connection.needsFlush = true }
        if connection.phase == .handshaking {
            shakeHands(connection)
        } else if event.isReadable {
            receive(connection)
        }
    }

    func shakeHands(_ connection: ClientConnection) {
        switch connection.channel.handshake() {
        case .blocked: return
        case .failed:
            let fault = connection.channel.certificateFault
            if fault != nil { context = nil }
            drop(connection, .connectFailed, fault ?? "TLS handshake failed")
        case .done where !connection.channel.isHTTP2:
            drop(connection, .connectFailed, "the server does not speak HTTP/2")
        case .done:
            connection.phase = .awaitingSettings
            connection.needsFlush = true
            receive(connection)
        }
    }

    private func receive(_ connection: ClientConnection) {
        while true {
            switch connection.channel.read(into: buffer) {
            case .nothing: return
            case .ended: return drop(connection, .connectionLost, "the server ended it")
            case .bytes(let count):
                connection.lastHeard = clock.now
                let wasAwaiting = connection.phase == .awaitingSettings
                let bytes = buffer.baseAddress!.assumingMemoryBound(to: UInt8.self)
                let code = nghttp2_session_mem_recv(connection.session, bytes, count)
                if wasAwaiting, connection.phase == .open { noteOpened(connection) }
                guard code >= 0 else { return drop(connection, .connectionLost, "the server broke the protocol") }
                connection.needsFlush = true
                if !connection.channel.hasPending { return }
            }
        }
    }

    private func noteOpened(_ connection: ClientConnection) {
        opened += 1
        lastLimit = connection.limit
        logger.debug("connected", metadata: ["host": "\(origin.host)", "streams": "\(connection.limit)"])
    }

    /// Ends what has lasted too long.
    func checkConnections() {
        for connection in connections {
            if connection.answered > connection.answeredBefore {
                connection.answeredBefore = connection.answered
                lastAnsweredAt = clock.now
                reconnect.succeed()
            }
            connection.expireRequests()
            switch connection.phase {
            case .handshaking, .awaitingSettings:
                if connection.openBy <= clock.now { drop(connection, .connectFailed, "no answer in time") }
            case .open:
                if let deadline = connection.pingDeadline, deadline <= clock.now {
                    drop(connection, .connectionLost, "no answer to PING")
                } else if connection.inFlight == 0, connection.idleSince + configuration.idleTimeout <= clock.now {
                    connection.retire()
                }
            case .draining: break
            }
            if isPastClosing { drop(connection, .closed, "closed") }
        }
    }

    /// Hands what is queued to the connections that have room, a few at a time to the one that has most.
    func beginQueued() {
        while !queue.isEmpty {
            var roomiest: ClientConnection?
            for connection in connections where connection.room > roomiest?.room ?? 0 { roomiest = connection }
            guard let connection = roomiest else { return }
            if connection.lastHeard + configuration.silenceBeforePing <= clock.now {
                connection.ping(answerBy: clock.now + Self.pingTimeout)
                continue
            }
            for _ in 0..<min(16, connection.room) {
                guard let queued = queue.takeNext() else { return }
                connection.begin(queued)
            }
        }
    }

    /// Sends what the sessions have to say, and closes the connections that are done.
    func flushConnections() {
        for connection in connections {
            if connection.needsFlush { flush(connection) }
            // Behind a socket that takes nothing, streams never close: with every result given, nobody waits for them.
            let isDone = connection.inFlight == 0 || connection.waitsForRoom && !connection.hasRequests
            if connection.phase == .draining, isDone {
                drop(connection, .goAway, nil)
            } else if nghttp2_session_want_read(connection.session) == 0, connection.phase != .handshaking,
                nghttp2_session_want_write(connection.session) == 0
            {
                drop(connection, .connectionLost, "the session ended")
            }
        }
    }

    private func flush(_ connection: ClientConnection) {
        guard connection.phase != .handshaking else { return }
        connection.needsFlush = false
        let progress = connection.channel.flush(connection.session)
        if (progress == .blocked) != connection.waitsForRoom {
            connection.waitsForRoom.toggle()
            poll.modify(connection.channel.file, token: connection.token, writable: connection.waitsForRoom)
        }
        if progress == .failed { drop(connection, .connectionLost, "the server does not take more") }
    }

    /// Ends a connection and whatever is in flight on it.
    /// - Parameter reason: for the log; nil if it had done its work.
    private func drop(_ connection: ClientConnection, _ fault: HTTP2Fault, _ reason: String?) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        poll.remove(connection.channel.file)
        let hadWork = connection.inFlight > 0
        connection.endAll(fault)
        if reason == nil || fault == .closed {
            // With requests in flight nothing more may leave: some were just said to have never left.
            if !hadWork { connection.announceEnd() }
            connection.channel.sayGoodbye()
        }
        needsAnotherTurn = needsAnotherTurn || !queue.isEmpty
        guard fault != .closed else { return }
        guard let reason else {
            if connection.wasUseless { noteFailure("the server took requests and answered none") }
            return
        }
        if connection.answered == 0 || fault == .connectFailed { return noteFailure(reason) }
        logger.info(
            "connection lost",
            metadata: ["host": "\(origin.host)", "reason": "\(reason)", "hadRequests": "\(hadWork)"])
    }
}

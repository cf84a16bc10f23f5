import Glibc
import Logging
import Threading

extension ClientLoop {
    /// Opens connections while what waits is more than those being opened will take.
    func openConnections() {
        while !queue.isEmpty {
            let usable = connections.count { $0.phase != .draining }
            let pending = dials.count + connections.count { $0.phase == .handshaking || $0.phase == .awaitingSettings }
            let isEnough = queue.count <= pending * lastLimit || usable + dials.count >= configuration.maxConnections
            // Draining ones end by themselves, with the result of their last request.
            let isCrowded = connections.count + dials.count >= 2 * configuration.maxConnections
            let isProbing = reconnect.failures > 0 && pending > 0
            guard !isEnough, !isCrowded, !isProbing, reconnect.allows(clock.now) else { return }
            startDial()
        }
    }

    private func startDial() {
        let dial = Dial(giveUpAt: clock.now + configuration.connectTimeout, poll: poll)
        dials.append(dial)
        if let literalAddress {
            begin(dial, with: [literalAddress])
        } else if !isResolving {
            // A thread of its own, since it may block for as long as name servers take; the name is looked up anew for
            // every connection, and the operating system's resolver decides what to remember.
            isResolving = true
            startThread(named: "http2-resolve") { [mailbox, origin] in
                let addresses = SocketAddress.resolve(origin.host, port: origin.port, numeric: false)
                mailbox.post(.resolved(addresses))
            }
        }
    }

    /// The name was looked up, for all who wait for it.
    func begin(with addresses: [SocketAddress]) {
        isResolving = false
        for dial in dials where dial.isResolving { begin(dial, with: addresses) }
    }

    private func begin(_ dial: Dial, with addresses: [SocketAddress]) {
        let allowed = addresses.filter(mayConnect)
        if allowed.isEmpty, !addresses.isEmpty { queue.refuseAddress() }
        dialCount += 1
        dial.begin(with: AddressOrder.arrange(allowed, used: connections.map(\.address), turn: dialCount))
        startNext(dial)
    }

    /// Looked at after the name was resolved, and just this address is then connected to: a name that leads elsewhere
    /// when it is looked up again gains nothing.
    private func mayConnect(_ address: SocketAddress) -> Bool {
        switch configuration.addresses {
        case .any: true
        case .publicOnly(let besides): address.isPublic || besides.contains { $0.contains(address) }
        }
    }

    private func startNext(_ dial: Dial) {
        dial.startNext(token: nextToken, again: configuration.nextAddressDelay, now: clock.now)
        if dial.hasFailed { fail(dial, "no address could be reached") }
    }

    /// A socket of the dial is connected, or could not be.
    func advance(_ dial: Dial, _ token: UInt64) {
        guard let attempt = dial.finish(token) else {
            startNext(dial)
            return
        }
        dials.removeAll { $0 === dial }  // and with it the attempts that were slower
        secure(attempt, by: dial.giveUpAt)
    }

    private func secure(_ attempt: Dial.Attempt, by deadline: ContinuousClock.Instant) {
        // Reading the system's authorities takes some 10 ms, during which nothing else happens here.
        if context == nil { context = TLSContext.client(trust: configuration.trust) }
        let channel = context?.connected(file: attempt.file, host: origin.host, isAddress: literalAddress != nil)
        guard let channel else {
            close(attempt.file)
            noteFailure(context == nil ? "the trusted authorities cannot be read" : "TLS cannot be set up")
            return
        }
        let connection = ClientConnection(
            token: attempt.token, channel: channel, address: attempt.address, origin: origin,
            configuration: configuration, queue: queue, retained: retained, callbacks: callbacks, openBy: deadline)
        connections.append(connection)
        poll.add(attempt.file, token: connection.token)
        shakeHands(connection)
    }

    /// Gives up dials whose time is over, and tries further addresses where it is time.
    func checkDials() {
        for dial in dials {
            if dial.giveUpAt <= clock.now {
                fail(dial, dial.isResolving ? "the name was not resolved in time" : "no address answered in time")
            } else if let next = dial.nextAttemptAt, next <= clock.now {
                startNext(dial)
            }
        }
    }

    private func fail(_ dial: Dial, _ reason: String) {
        dials.removeAll { $0 === dial }
        noteFailure(reason)
    }

    /// A connection could not be made, or was of no use.
    func noteFailure(_ reason: String) {
        failed += 1
        reconnect.fail(at: clock.now, draw: .random(in: 0...1))
        logger.info(
            "connection failed",
            metadata: ["host": "\(origin.host)", "reason": "\(reason)", "failures": "\(reconnect.failures)"])
    }
}

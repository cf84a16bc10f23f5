import Glibc
import Threading

/// A TCP relay between a client and the server, which can fall silent, break and refuse, as networks do.
package final class Relay: Sendable {
    package let port: UInt16
    private let target: sockaddr_in
    private let state = Locked(State())

    private struct State: Sendable {
        var listener: Int32 = -1
        /// Of both sides of each connection.
        var sockets: Set<Int32> = []
        var isSilent = false
        /// Sockets of connections that pass nothing on any more.
        var frozen: Set<Int32> = []
        var holdsHangUps = false
        var hangUps = 0
        var goodbyes = 0
        var accepted = 0
    }

    /// - Parameter target: port of the server on 127.0.0.1.
    package init(target: UInt16) throws {
        self.target = Self.address(port: target)
        let (listener, port) = try Self.listen(port: 0)
        self.port = port
        state.withLock { $0.listener = listener }
        accept(on: listener)
    }

    /// Connections that clients have made.
    package var accepted: Int { state.withLock { $0.accepted } }

    /// Passes nothing on any more, and closes nothing: half open, for those who wait. New connections get no answer.
    package func fallSilent() { state.withLock { $0.isSilent = true } }

    /// The connections of now pass nothing on any more and close nothing; new ones work. So a firewall forgets.
    package func freeze() { state.withLock { $0.frozen = $0.sockets } }

    /// Passes on what is said, but not that a side hung up.
    package func holdHangUps() { state.withLock { $0.holdsHangUps = true } }

    /// Times that a side hung up, after all that it said was passed on.
    package var hangUps: Int { state.withLock { $0.hangUps } }

    /// Times that the server's last words to an idle client were passed on, and lie in the client's socket.
    package var goodbyes: Int { state.withLock { $0.goodbyes } }

    /// Breaks all connections, and refuses new ones.
    package func goDown() {
        state.withLock { state in
            shutdown(state.listener, Int32(SHUT_RDWR))
            close(state.listener)
            state.listener = -1
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Accepts connections again.
    package func comeBack() throws {
        let (listener, _) = try Self.listen(port: port)
        state.withLock { state in
            state.listener = listener
            state.isSilent = false
            state.holdsHangUps = false
        }
        accept(on: listener)
    }

    private func accept(on listener: Int32) {
        startThread(named: "relay-accept") { [self] in
            while true {
                let client = Glibc.accept(listener, nil, nil)
                guard client >= 0 else { return }
                let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                var address = target
                let isConnected = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(server, $0, addressSize) == 0 }
                }
                let isDown = state.withLock { state in
                    state.accepted += 1
                    guard isConnected, state.listener == listener else { return true }
                    state.sockets.formUnion([client, server])
                    return false
                }
                if isDown {
                    close(client)
                    close(server)
                    continue
                }
                // Each direction has a thread; the one that ends last closes both.
                let running = Locked(2)
                startThread(named: "relay-up") { self.pump(from: client, to: server, running) }
                startThread(named: "relay-down") { self.pump(from: server, to: client, running) }
            }
        }
    }

    private func pump(from source: Int32, to sink: Int32, _ running: Locked<Int>) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            if state.withLock({ $0.isSilent || $0.frozen.contains(source) }) { continue }
            guard send(sink, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
            // ErrorResponse (PostgreSQL manual 55.7): unasked, it is a goodbye, and comes alone.
            guard buffer[0] == UInt8(ascii: "E") else { continue }
            awaitDelivery(to: sink)
            state.withLock { $0.goodbyes += 1 }
        }
        let isHeld = state.withLock { state in
            state.hangUps += 1
            return state.isSilent || state.holdsHangUps || state.frozen.contains(source)
        }
        if !isHeld {
            shutdown(source, Int32(SHUT_RDWR))
            shutdown(sink, Int32(SHUT_RDWR))
        }
        let isLast = running.withLock { running in
            running -= 1
            return running == 0
        }
        guard isLast else { return }
        state.withLock { state in
            state.sockets.subtract([source, sink])
            state.frozen.subtract([source, sink])
        }
        close(source)
        close(sink)
    }

    /// Returns when the peer's kernel has all that was sent: `send` only hands it to ours.
    private func awaitDelivery(to sink: Int32) {
        var unacknowledged: Int32 = 1
        while unacknowledged > 0 {
            guard ioctl(sink, UInt(TIOCOUTQ), &unacknowledged) == 0 else { return }
            sched_yield()
        }
    }

    private static func listen(port: UInt16) throws -> (listener: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = address(port: port)
        var size = addressSize
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && Glibc.listen(listener, 64) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isListening else { throw Failure(description: "relay: error \(errno)") }
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private struct Failure: Error, CustomStringConvertible { let description: String }
}

private let addressSize = socklen_t(MemoryLayout<sockaddr_in>.size)

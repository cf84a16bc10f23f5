import Glibc
import Testing
import Threading

/// A TCP relay that can stop forwarding without closing anything, as a network does that lost its way.
final class Relay: Sendable {
    let port: UInt16
    private let listener: Int32
    private let target: UInt16
    /// Connections numbered below it are not forwarded any more.
    private let frozenBelow = Locked(0)
    private let accepted = Locked<[Int32]>([])
    private let stop = Locked(false)

    init(to target: UInt16) throws {
        self.target = target
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Connections inherit it, so that little fits into one that is frozen.
        var size: Int32 = 65_536
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        port = try bindToLoopback(listener)
        #expect(listen(listener, 16) == 0)
        startThread(named: "relay") { self.run() }
    }

    /// Forwards nothing more on the connections that exist, in either direction.
    func freeze() {
        let count = accepted.withLock { $0.count }
        frozenBelow.withLock { $0 = count }
    }

    /// Waits until nothing more arrives on the connections that are not forwarded.
    func settle() async {
        let wakeup = Wakeup()
        var last = 0
        var same = 0
        while same < 20 {
            await wakeup.wait(until: .now + .milliseconds(5))
            let pending = pendingBytes
            same = pending == last && pending > 0 ? same + 1 : 0
            last = pending
        }
    }

    private var pendingBytes: Int {
        accepted.withLock { files in
            files.reduce(0) { sum, file in
                var count: Int32 = 0
                return ioctl(file, UInt(FIONREAD), &count) == 0 ? sum + Int(count) : sum
            }
        }
    }

    /// Forwards what was held back, too.
    func thaw() { frozenBelow.withLock { $0 = 0 } }

    func end() { stop.withLock { $0 = true } }

    private func run() {
        var pairs: [(number: Int, near: Int32, far: Int32)] = []
        while !stop.withLock({ $0 }) {
            let frozen = frozenBelow.withLock { $0 }
            let live = pairs.filter { $0.number >= frozen }
            var polls = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            for pair in live {
                polls.append(pollfd(fd: pair.near, events: Int16(POLLIN), revents: 0))
                polls.append(pollfd(fd: pair.far, events: Int16(POLLIN), revents: 0))
            }
            poll(&polls, nfds_t(polls.count), 10)
            if polls[0].revents != 0 {
                let near = accept(listener, nil, nil)
                let number = accepted.withLock { files in
                    files.append(near)
                    return files.count - 1
                }
                pairs.append((number, near, connectToLoopback(port: target)))
            }
            for (index, pair) in live.enumerated() where pair.number >= frozenBelow.withLock({ $0 }) {
                if polls[1 + 2 * index].revents != 0 { forward(pair.near, pair.far) }
                if polls[2 + 2 * index].revents != 0 { forward(pair.far, pair.near) }
            }
        }
        for pair in pairs {
            close(pair.near)
            close(pair.far)
        }
        close(listener)
    }

    private func forward(_ source: Int32, _ destination: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(source, &buffer, buffer.count, 0)
        if count > 0 {
            _ = send(destination, buffer, count, Int32(MSG_NOSIGNAL))
        } else {
            shutdown(destination, Int32(SHUT_WR))
        }
    }
}

import Glibc
import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct SocketLeakTests {
    /// Sockets of this machine that somebody holds open and that have the port on either side, whatever their state.
    private static func openSockets(port: UInt16) -> Int {
        let needle = ":" + ("000" + String(port, radix: 16, uppercase: true)).suffix(4)
        return ["/proc/self/net/tcp", "/proc/self/net/tcp6"].reduce(0) { sum, path in
            sum
                + lines(of: path).count { line in
                    let columns = line.split(separator: " ")
                    guard columns.count > 9, columns[9] != "0" else { return false }  // no inode: nobody holds it
                    return columns[1].hasSuffix(needle) || columns[2].hasSuffix(needle)
                }
        }
    }

    private static func lines(of path: String) -> [Substring] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var text = ""
        var buffer = [CChar](repeating: 0, count: 4096)
        while fgets(&buffer, Int32(buffer.count), file) != nil {
            text += buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        }
        return text.split(separator: "\n")
    }

    @Test func `the number of sockets stays the same through thousands of requests and reconnects`() async throws {
        let exchange = try Exchange(client: { client in
            client.maxConnections = 2
            client.reconnectDelay = .milliseconds(1)
            client.maxReconnectDelay = .milliseconds(1)
        }) { request in
            switch request.number % 50 {
            case 20: .goAway(answeringThis: HTTP2ServerResponse(status: 200))
            case 40: .closeConnection(hard: request.number.isMultiple(of: 100))
            default: .ok
            }
        }
        var counts: [Int] = []
        for round in 0..<10 {
            exchange.submit(500, from: round * 500)
            #expect(await exchange.collector.wait(for: (round + 1) * 500).count == (round + 1) * 500)
            counts.append(Self.openSockets(port: exchange.server.port))
        }
        #expect(exchange.server.statistics.acceptedConnections > 20)
        // The listening one, and both ends of at most two connections in use and two that end.
        #expect(counts.allSatisfy { $0 <= 1 + 2 * 4 })
        await exchange.end()
        #expect(Self.openSockets(port: exchange.server.port) == 0)
    }
}

import Glibc
import HTTP2
import Testing
import Threading

/// Behind a socket that takes no more, requests wait that were begun and did not leave.
@Suite(.timeLimit(.minutes(1))) struct FullSocketTests {
    private let seen = Locked<[Int: Int]>([:])
    private let server: HTTP2Server
    private let relay: Relay
    private let client: HTTP2Client
    private let collector = Collector()

    init() throws {
        let seen = seen
        server = try HTTP2Server.forTest { request in
            seen.withLock { $0[request.number, default: 0] += 1 }
            return .ok
        }
        server.start()
        relay = try Relay(to: server.port)
        client = HTTP2Client.forTest(port: relay.port) { $0.maxConnections = 1 }
    }

    private func submit(_ ids: Range<Int>, bytes: Int, deadline: Duration) {
        let requests = ids.map { id in
            HTTP2Request(id: UInt64(id), path: Array("/\(id)".utf8), body: [UInt8](repeating: 65, count: bytes))
        }
        client.submit(
            requests, shared: Exchange.shared, beginBefore: .now + .seconds(20), deadline: deadline,
            sink: collector.sink)
    }

    private func waitUntil(_ condition: () -> Bool) async {
        let limit = ContinuousClock.now + .seconds(10)
        let wakeup = Wakeup()
        while !condition(), ContinuousClock.now < limit { await wakeup.wait(until: .now + .milliseconds(5)) }
        #expect(condition())
    }

    /// One answered request, then 40 that fill the socket and ten behind them.
    private func fill(from first: Int = 0, deadline: Duration) async {
        submit(first..<first + 1, bytes: 10, deadline: .seconds(10))
        #expect(await collector.wait(for: first + 1).last?.status == 200)
        limitSendBuffers(port: relay.port)
        relay.freeze()
        submit(first + 1..<first + 41, bytes: 500_000, deadline: deadline)
        await waitUntil { client.statistics.inFlight == 40 }
        await relay.settle()
        submit(first + 41..<first + 51, bytes: 10, deadline: deadline)
    }

    @Test func `however often a socket takes no more, another connection is made and the old ones end`() async throws {
        for turn in 0..<3 {
            await fill(from: turn * 51, deadline: .seconds(1))
            let results = await collector.wait(for: (turn + 1) * 51).suffix(50)
            #expect(results.count { $0.mayHaveBeenSent == .timedOut } == 40)
            #expect(results.count { $0.status == 200 } == 10)
            await waitUntil { client.statistics.drainingConnections == 0 }
        }
        await client.close(by: .now)
        relay.end()
        server.stop()
    }

    @Test func `closing, what was behind it is not sent, and does not leave later`() async throws {
        await fill(deadline: .seconds(20))
        await waitUntil { client.statistics.inFlight == 50 }
        await client.close(by: .now)
        let results = collector.results
        #expect(results.filter { $0.notSent == .closed }.map(\.id).sorted() == Array(41..<51))
        #expect(results.filter { $0.mayHaveBeenSent == .closed }.map(\.id).sorted() == Array(1..<41))
        relay.thaw()
        await waitUntil { server.statistics.openConnections == 0 }
        #expect(seen.withLock { $0.keys.allSatisfy { $0 < 41 } })
        relay.end()
        server.stop()
    }

    @Test func `timed out, what was behind it goes out on another connection, and only there`() async throws {
        await fill(deadline: .seconds(1))
        let results = await collector.wait(for: 51)
        #expect(results.filter { $0.mayHaveBeenSent == .timedOut }.map(\.id).sorted() == Array(1..<41))
        #expect(results.filter { $0.id > 40 }.count { $0.status == 200 } == 10)
        relay.thaw()
        await waitUntil { server.statistics.openConnections == 1 }
        #expect(seen.withLock { seen in (41..<51).allSatisfy { seen[$0] == 1 } })
        await client.close(by: .now)
        relay.end()
        server.stop()
    }
}

/// Fixes the send buffers of this process's sockets that are connected to a port: left to itself, the kernel enlarges
/// them at times of its own choosing (tcp(7)).
private func limitSendBuffers(port: UInt16) {
    for file in Int32(3)..<1024 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(file, $0, &length) }
        }
        guard code == 0, UInt16(bigEndian: address.sin_port) == port else { continue }
        var size: Int32 = 65_536
        setsockopt(file, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
}

import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct LostConnectionTests {
    @Test(arguments: [false, true])
    func `when a connection ends in the middle, what may have left is not sent again`(hard: Bool) async throws {
        let seen = Locked<[Int: Int]>([:])
        let exchange = try Exchange(client: { $0.maxConnections = 1 }) { request in
            seen.withLock { $0[request.number, default: 0] += 1 }
            guard request.connectionID == 1 else { return .ok }
            return seen.withLock { $0.count } == 50 ? .closeConnection(hard: hard) : .stall
        }
        exchange.submit(200)
        let results = await exchange.collector.wait(for: 200)
        #expect(results.map(\.id).sorted() == Array(0..<200))
        let lost = results.filter { $0.mayHaveBeenSent == .connectionLost }
        #expect(lost.count == 100)
        #expect(results.count { $0.status == 200 } == 100)
        #expect(seen.withLock { $0.values.allSatisfy { $0 == 1 } })
        await exchange.end()
    }

    @Test func `a server that ends every connection at once is not hammered`() async throws {
        let exchange = try Exchange(client: { client in
            client.reconnectDelay = .milliseconds(100)
            client.maxReconnectDelay = .milliseconds(100)
        }) { _ in .goAwayUnprocessed }
        let results = await exchange.results(of: 1, beginWithin: .milliseconds(500))
        #expect(results.first?.notSent == .goAway)
        #expect(exchange.server.statistics.acceptedConnections <= 11)
        await exchange.end()
    }

    @Test func `a connection that was idle too long is closed, and opened again when needed`() async throws {
        let exchange = try Exchange(client: { $0.idleTimeout = .milliseconds(30) }) { _ in .ok }
        #expect(await exchange.results(of: 1).first?.status == 200)
        let limit = ContinuousClock.now + .seconds(10)
        let wakeup = Wakeup()
        while exchange.server.statistics.openConnections > 0, ContinuousClock.now < limit {
            await wakeup.wait(until: .now + .milliseconds(5))
        }
        #expect(exchange.server.statistics.openConnections == 0)
        exchange.submit(1, from: 1)
        #expect(await exchange.collector.wait(for: 2).last?.status == 200)
        #expect(exchange.server.statistics.acceptedConnections == 2)
        await exchange.end()
    }
}

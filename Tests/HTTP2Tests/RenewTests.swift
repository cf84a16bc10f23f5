import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct RenewTests {
    @Test func `renewed connections get no more requests, and answer those that they have`() async throws {
        let connections = Locked<[Int: UInt64]>([:])
        let begun = Wakeup()
        let exchange = try Exchange(client: { $0.maxConnections = 1 }) { request in
            connections.withLock { $0[request.number] = request.connectionID }
            begun.signal()
            let ok = HTTP2ServerResponse(status: 200)
            return request.number == 0 ? .respondAfter(.milliseconds(200), ok) : .respond(ok)
        }
        exchange.submit(1)
        await begun.wait(until: .now + .seconds(20))
        exchange.client.renewConnections(madeBy: .now)
        exchange.submit(10, from: 1)
        let results = await exchange.collector.wait(for: 11)
        #expect(results.allSatisfy { $0.status == 200 })
        let seen = connections.withLock { $0 }
        #expect(seen[0] == 1)
        #expect((1...10).allSatisfy { seen[$0] == 2 })
        await exchange.end()
    }

    @Test func `a connection made later than that is kept`() async throws {
        let exchange = try Exchange(client: { $0.maxConnections = 1 }) { _ in .ok }
        let before = ContinuousClock.now
        exchange.submit(1)
        _ = await exchange.collector.wait(for: 1)
        exchange.client.renewConnections(madeBy: before)
        exchange.submit(1, from: 1)
        let results = await exchange.collector.wait(for: 2)
        #expect(results.allSatisfy { $0.status == 200 })
        #expect(exchange.server.statistics.acceptedConnections == 1)
        await exchange.end()
    }
}

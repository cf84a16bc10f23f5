import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct DeadlineTests {
    @Test func `a request without an answer ends at its deadline, and may have been sent`() async throws {
        let exchange = try Exchange { $0.number == 1 ? .stall : .ok }
        let results = await exchange.results(of: 3, deadline: .milliseconds(200))
        #expect(results.count { $0.status == 200 } == 2)
        let stalled = try #require(results.first { $0.id == 1 })
        #expect(stalled.mayHaveBeenSent == .timedOut)
        let took = try #require(stalled.begunAt).duration(to: stalled.endedAt)
        #expect(took >= .milliseconds(200) && took < .seconds(5))
        // Nobody else was harmed.
        exchange.submit(10, from: 3)
        #expect(await exchange.collector.wait(for: 13).count { $0.status == 200 } == 12)
        #expect(exchange.server.statistics.acceptedConnections == 1)
        await exchange.end()
    }

    @Test func `two timeouts in a row end a connection's use`() async throws {
        let exchange = try Exchange(client: { $0.maxConnections = 1 }) { request in
            request.connectionID == 1 ? .stall : .ok
        }
        let results = await exchange.results(of: 2, deadline: .milliseconds(100))
        #expect(results.map { $0.mayHaveBeenSent } == [.timedOut, .timedOut])
        exchange.submit(5, from: 2)
        #expect(await exchange.collector.wait(for: 7).count { $0.status == 200 } == 5)
        #expect(exchange.server.statistics.acceptedConnections == 2)
        await exchange.end()
    }

    @Test func `what is submitted past its time is not begun`() async throws {
        let exchange = try Exchange { _ in .ok }
        let results = await exchange.results(of: 3, beginWithin: .zero)
        #expect(results.map { $0.notSent } == [.tooLate, .tooLate, .tooLate])
        #expect(results.allSatisfy { $0.begunAt == nil })
        #expect(exchange.server.statistics.requests == 0)
        await exchange.end()
    }

    @Test func `what finds no room in time is not begun`() async throws {
        let exchange = try Exchange(
            server: { $0.maxConcurrentStreams = 1 }, client: { $0.maxConnections = 1 }
        ) { _ in .stall }
        exchange.submit(1, deadline: .milliseconds(400))
        exchange.submit(5, from: 1, beginWithin: .milliseconds(100))
        let results = await exchange.collector.wait(for: 6)
        #expect(results.prefix(5).map { $0.notSent } == Array(repeating: .tooLate, count: 5))
        #expect(results.last?.mayHaveBeenSent == .timedOut)
        #expect(exchange.server.statistics.requests == 1)
        await exchange.end()
    }
}

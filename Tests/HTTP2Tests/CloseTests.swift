import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct CloseTests {
    @Test func `closing ends what is queued, and waits for what is in flight`() async throws {
        let begun = Wakeup()
        let exchange = try Exchange(
            server: { $0.maxConcurrentStreams = 4 }, client: { $0.maxConnections = 1 }
        ) { request in
            if request.number == 3 { begun.signal() }
            return .respondAfter(.seconds(2), HTTP2ServerResponse(status: 200))
        }
        exchange.submit(10)
        await begun.wait(until: .now + .seconds(10))
        await exchange.client.close(by: .now + .seconds(10))
        let results = exchange.collector.results
        #expect(results.map(\.id).sorted() == Array(0..<10))
        #expect(results.count { $0.status == 200 } == 4)
        #expect(results.count { $0.notSent == .closed } == 6)
        exchange.server.stop()
    }

    @Test func `past the closing deadline, what is in flight may have been sent`() async throws {
        let begun = Wakeup()
        let exchange = try Exchange { _ in
            begun.signal()
            return .stall
        }
        exchange.submit(1)
        await begun.wait(until: .now + .seconds(10))
        await exchange.client.close(by: .now + .milliseconds(50))
        #expect(exchange.collector.results.map { $0.mayHaveBeenSent } == [.closed])
        exchange.server.stop()
    }

    @Test func `a closed client says so at once, however often it is closed`() async throws {
        let exchange = try Exchange { _ in .ok }
        await exchange.client.close(by: .now + .seconds(10))
        await exchange.client.close(by: .now)
        exchange.submit(3)
        #expect(exchange.collector.results.map { $0.notSent } == [.closed, .closed, .closed])
        exchange.server.stop()
    }

    @Test func `a client that nobody holds any more ends its requests`() async throws {
        let server = try HTTP2Server.forTest { _ in .stall }
        server.start()
        let collector = Collector()
        do {
            let client = HTTP2Client.forTest(port: server.port)
            client.submit(
                [.numbered(1)], shared: Exchange.shared, beginBefore: .now + .seconds(30), deadline: .seconds(30),
                sink: collector.sink)
        }
        #expect(await collector.wait(for: 1).count == 1)
        server.stop()
    }
}

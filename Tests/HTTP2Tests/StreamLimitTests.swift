import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct StreamLimitTests {
    @Test func `the server's limit of streams is obeyed, also when it is lifted`() async throws {
        let lateAnswer = HTTP2ServerAction.respondAfter(.milliseconds(5), HTTP2ServerResponse(status: 200))
        let exchange = try Exchange(
            server: { $0.maxConcurrentStreams = 5 }, client: { $0.maxConnections = 1 }
        ) { _ in lateAnswer }
        let first = await exchange.results(of: 50)
        #expect(first.count { $0.status == 200 } == 50)
        #expect(exchange.server.statistics.maxOpenStreams == 5)
        #expect(exchange.client.capacity == 5)

        exchange.server.setMaxConcurrentStreams(40)
        // The next requests see the new limit once the client has read it, so ask until it has.
        let limit = ContinuousClock.now + .seconds(10)
        var sent = 50
        while exchange.client.capacity != 40, ContinuousClock.now < limit {
            exchange.submit(1, from: sent)
            sent += 1
            _ = await exchange.collector.wait(for: sent)
        }
        exchange.submit(200, from: sent)
        let all = await exchange.collector.wait(for: sent + 200)
        #expect(all.count { $0.status == 200 } == sent + 200)
        #expect(exchange.server.statistics.maxOpenStreams == 40)
        #expect(exchange.server.statistics.acceptedConnections == 1)
        await exchange.end()
    }

    @Test func `nothing is begun before the server's settings are known`() async throws {
        let exchange = try Exchange(server: { server in
            server.settingsDelay = .milliseconds(150)
            server.maxConcurrentStreams = 1
        }) { _ in .ok }
        let start = ContinuousClock.now
        let results = await exchange.results(of: 3)
        #expect(results.count { $0.status == 200 } == 3)
        #expect(results.allSatisfy { $0.begunAt.map { $0 - start >= .milliseconds(150) } == true })
        #expect(exchange.server.statistics.maxOpenStreams == 1)
        await exchange.end()
    }

    @Test func `connections are added while requests wait, up to the maximum`() async throws {
        let held = HTTP2ServerAction.respondAfter(.milliseconds(50), HTTP2ServerResponse(status: 200))
        let exchange = try Exchange(
            server: { $0.maxConcurrentStreams = 10 },
            client: {
                $0.maxConnections = 3
                $0.streamsPerConnection = 10
            }
        ) { _ in held }
        #expect(exchange.client.capacity == 30)
        let one = await exchange.results(of: 1)
        #expect(one.first?.status == 200)
        #expect(exchange.server.statistics.acceptedConnections == 1)
        exchange.submit(200, from: 1)
        let results = await exchange.collector.wait(for: 201)
        #expect(results.count { $0.status == 200 } == 201)
        #expect(exchange.server.statistics.acceptedConnections == 3)
        await exchange.end()
    }
}

import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct OrderTests {
    /// One stream at a time, so that the order of arrival is the order of beginning. Request 0 is answered once all the
    /// others wait behind it.
    private static func arrivals(_ submit: (Exchange) -> Int) async throws -> [Int] {
        let seen = Locked<[Int]>([])
        let first = Wakeup()
        let exchange = try Exchange(
            server: { $0.maxConcurrentStreams = 1 }, client: { $0.maxConnections = 1 }
        ) { request in
            seen.withLock { $0.append(request.number) }
            guard request.number == 0 else { return .ok }
            first.signal()
            return .respondAfter(.seconds(1), HTTP2ServerResponse(status: 200))
        }
        exchange.submit(1)
        await first.wait(until: .now + .seconds(10))
        let count = submit(exchange)
        _ = await exchange.collector.wait(for: count + 1)
        await exchange.end()
        return seen.withLock { $0 }
    }

    @Test func `requests begin in the order submitted`() async throws {
        let arrivals = try await Self.arrivals { exchange in
            for batch in 0..<10 { exchange.submit(5, from: 1 + batch * 5) }
            return 50
        }
        #expect(arrivals == Array(0...50))
    }

    @Test func `transactional requests pass those that wait`() async throws {
        let arrivals = try await Self.arrivals { exchange in
            exchange.submit(3, from: 1)
            exchange.submit(2, from: 4, priority: .transactional)
            return 5
        }
        #expect(arrivals == [0, 4, 5, 1, 2, 3])
    }
}

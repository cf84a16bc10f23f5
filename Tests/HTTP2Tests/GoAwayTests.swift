import HTTP2
import Testing
import Threading

/// Every test sends 100 requests at once, and the 50th that the server sees meets a GOAWAY; later connections answer.
@Suite(.timeLimit(.minutes(1))) struct GoAwayTests {
    private static let ok = HTTP2ServerResponse(status: 200)

    /// - Parameters:
    ///   - action: at the 50th request of the first connection.
    ///   - before: at those before it.
    private static func run(
        _ action: HTTP2ServerAction, before: HTTP2ServerAction = .ok
    ) async throws -> (results: [HTTP2Result], seen: [Int: Int], connections: Int) {
        let seen = Locked<[Int: Int]>([:])
        let count = Locked(0)
        let exchange = try Exchange(client: { $0.maxConnections = 1 }) { request in
            seen.withLock { $0[request.number, default: 0] += 1 }
            guard request.connectionID == 1 else { return .ok }
            let position = count.withLock { count in
                count += 1
                return count
            }
            return position == 50 ? action : position < 50 ? before : .ok
        }
        let results = await exchange.results(of: 100)
        let connections = exchange.server.statistics.acceptedConnections
        await exchange.end()
        #expect(results.map(\.id).sorted() == Array(0..<100))
        return (results, seen.withLock { $0 }, connections)
    }

    @Test func `with everything below answered, the rest is sent again and nothing is lost`() async throws {
        let (results, seen, connections) = try await Self.run(.goAway(answeringThis: Self.ok))
        #expect(results.allSatisfy { $0.status == 200 })
        #expect(seen.count == 100)
        #expect(seen.values.allSatisfy { $0 == 1 })
        #expect(connections == 2)
    }

    @Test func `what is late below its last stream is still answered`() async throws {
        let (results, seen, _) = try await Self.run(
            .goAway(answeringThis: Self.ok), before: .respondAfter(.milliseconds(30), Self.ok))
        #expect(results.allSatisfy { $0.status == 200 })
        #expect(seen.values.allSatisfy { $0 == 1 })
    }

    @Test func `what is unanswered below its last stream may have been sent`() async throws {
        let (results, seen, _) = try await Self.run(.goAway(answeringThis: nil))
        #expect(results.count { $0.status == 200 } == 99)
        let lost = results.filter { $0.mayHaveBeenSent == .connectionLost }
        #expect(lost.count == 1)
        #expect(seen.values.allSatisfy { $0 == 1 })
    }

    @Test func `many unanswered ones below its last stream may all have been sent`() async throws {
        let (results, seen, _) = try await Self.run(.goAway(answeringThis: nil), before: .stall)
        #expect(results.count { $0.mayHaveBeenSent == .connectionLost } == 50)
        #expect(results.count { $0.status == 200 } == 50)
        #expect(seen.values.allSatisfy { $0 == 1 })
    }

    @Test func `what is above its last stream is sent again, though the server had read it`() async throws {
        let (results, seen, connections) = try await Self.run(.goAwayUnprocessed)
        #expect(results.allSatisfy { $0.status == 200 })
        #expect(seen.values.count { $0 == 2 } == 1)
        #expect(seen.values.allSatisfy { $0 <= 2 })
        #expect(connections == 2)
    }
}

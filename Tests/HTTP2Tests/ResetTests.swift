import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct ResetTests {
    @Test func `a refused request is sent again, and answered once`() async throws {
        let seen = Locked<[Int: Int]>([:])
        let exchange = try Exchange { request in
            let number = request.number
            let times = seen.withLock { seen in
                seen[number, default: 0] += 1
                return seen[number, default: 0]
            }
            return number.isMultiple(of: 5) && times == 1 ? .refuse : .ok
        }
        let results = await exchange.results(of: 100)
        #expect(results.map(\.id).sorted() == Array(0..<100))
        #expect(results.allSatisfy { $0.status == 200 })
        for (number, times) in seen.withLock({ $0 }) { #expect(times == (number.isMultiple(of: 5) ? 2 : 1)) }
        await exchange.end()
    }

    @Test func `a request that is always refused goes back to the caller as not sent`() async throws {
        let exchange = try Exchange { _ in .refuse }
        let results = await exchange.results(of: 3)
        #expect(results.map { $0.notSent } == [.refusedStream, .refusedStream, .refusedStream])
        #expect(exchange.server.statistics.requests < 100)
        await exchange.end()
    }

    @Test(arguments: [UInt32(1), 2, 8, 11])
    func `a request that was reset may have been sent`(code: UInt32) async throws {
        let exchange = try Exchange { $0.number == 3 ? .reset(code: code) : .ok }
        let results = await exchange.results(of: 10)
        #expect(results.count { $0.status == 200 } == 9)
        #expect(results.first { $0.id == 3 }?.mayHaveBeenSent == .streamReset(code: code))
        #expect(exchange.server.statistics.requests == 10)
        await exchange.end()
    }
}

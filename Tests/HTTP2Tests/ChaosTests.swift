import Glibc
import HTTP2
import Testing
import Threading

@Suite(.timeLimit(.minutes(2))) struct ChaosTests {
    /// What the server knows about each request, by number.
    private struct Ledger: Sendable {
        /// Seen and not refused: a repetition of one of these would be a second push.
        var processed: [Int: Int] = [:]
        /// Seen, but left unprocessed by the rules of the protocol.
        var declined = 0
        var random: SplitMix
    }

    @Test(arguments: [UInt64(1), 2]) func `whatever happens, each request ends once and none is repeated in doubt`(
        seed: UInt64
    ) async throws {
        let count = 10_000
        let ledger = Locked(Ledger(random: SplitMix(state: seed)))
        let exchange = try Exchange(
            client: {
                $0.maxConnections = 3
                $0.reconnectDelay = .milliseconds(1)
                $0.maxReconnectDelay = .milliseconds(5)
            }
        ) { request in ledger.withLock { Self.act(on: request.number, &$0) } }
        let start = ContinuousClock.now
        for batch in 0..<count / 100 {
            exchange.submit(100, from: batch * 100, beginWithin: .seconds(60), deadline: .milliseconds(300))
        }
        let results = await exchange.collector.wait(for: count, within: .seconds(60))
        await exchange.end()
        #expect(results.map(\.id).sorted() == Array(0..<UInt64(count)))
        let seen = ledger.withLock { $0 }
        #expect(seen.declined > 0)
        #expect(seen.processed.values.allSatisfy { $0 == 1 })
        let contradictions = results.filter { result in
            let wasProcessed = seen.processed[Int(result.id)] != nil
            return switch result.outcome {
            case .answered: !wasProcessed
            case .notSent: wasProcessed
            case .mayHaveBeenSent: false
            }
        }
        #expect(contradictions.map(\.id) == [])
        let answered = results.count { $0.status == 200 }
        #expect(answered > count / 4)
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    private static func act(on number: Int, _ ledger: inout Ledger) -> HTTP2ServerAction {
        let draw = ledger.random.next() % 1000
        if draw < 24 {
            ledger.declined += 1
            return draw < 20 ? .refuse : .goAwayUnprocessed
        }
        ledger.processed[number, default: 0] += 1
        switch draw {
        case 24..<44: return .reset(code: 2)
        case 44..<48: return .closeConnection(hard: draw < 46)
        case 48..<52: return .goAway(answeringThis: draw < 50 ? nil : HTTP2ServerResponse(status: 200))
        case 52..<53: return .stall
        case 53..<200: return .respondAfter(.milliseconds(Int(draw % 7)), HTTP2ServerResponse(status: 200))
        default: return .ok
        }
    }
}

/// Reproducible random numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
struct SplitMix: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

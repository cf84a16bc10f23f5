import Delivery
import Domain
import Testing
import Threading

/// How far claims run ahead.
@Suite(.timeLimit(.minutes(1))) struct ClaimTests {
    private static let size = 10

    private static func fill(_ store: ScriptedStore, batches: Int64) {
        for id in 1...batches {
            store.add(Fixture.batch(id, size: size), Fixture.jobs(size, from: 1000 * id))
        }
    }

    @Test func `no batch is claimed while the outcomes of earlier ones wait to be recorded`() async throws {
        var configuration = WorkerConfiguration()
        configuration.prefetch = 10
        configuration.largestFlush = 20
        // Two flushes' worth that waits, what is in flight, what is read ahead, and the claim that is under way.
        let most = 4 + 3 + 1 + 2
        let (claims, held) = (Locked(0), Locked(false))
        let tooMany = Wakeup()
        let store = ScriptedStore(
            beforeFlush: { _, flush in
                let isFirst = held.withLock { held in
                    guard !flush.items.isEmpty, !held else { return false }
                    held = true
                    return true
                }
                if isFirst { await tooMany.wait(until: .now + .milliseconds(500)) }
                if isFirst { #expect(claims.withLock { $0 } <= most) }
            },
            beforeClaim: {
                let count = claims.withLock { claims in
                    claims += 1
                    return claims
                }
                if count > most { tooMany.signal() }
            })
        Self.fill(store, batches: 40)
        let transport = ScriptedTransport(capacity: 20, answer: ScriptedTransport.delivering)
        try await Fixture.withWorker(store, transport, configuration) { _ in
            await Fixture.until { store.items.count == 40 * Self.size }
        }
        #expect(held.withLock { $0 })
        #expect(transport.sent.count == 40 * Self.size)
    }

    @Test func `while batches cannot be read, claims come slower and slower`() async throws {
        struct Unreadable: Error {}
        var configuration = WorkerConfiguration()
        configuration.prefetch = 2 * Self.size
        let claims = Locked<[ContinuousClock.Instant]>([])
        let store = ScriptedStore(
            beforeClaim: { claims.withLock { $0.append(.now) } }, beforeRead: { throw Unreadable() })
        Self.fill(store, batches: 30)
        try await Fixture.withWorker(store, ScriptedTransport(), configuration) { _ in
            await Fixture.until { store.handBacks.count >= 6 }
        }
        let instants = claims.withLock { $0 }
        // Two may be under way before the first failure is known.
        #expect(instants[5] - instants[0] >= .milliseconds(100))
        #expect(store.handBacks.prefix(6).allSatisfy { $0.begun == 0 && $0.notBefore == .seconds(2) })
    }

    @Test(arguments: [Self.size, 1])
    func `a route whose provider is slow keeps no other waiting, and no more of it is read ahead than of any`(
        size: Int
    ) async throws {
        var configuration = WorkerConfiguration()
        configuration.prefetch = Self.size
        configuration.mostBatches = 80
        configuration.drainLimit = .zero
        let store = ScriptedStore()
        store.state.withLock { $0.routes[.apns] = Fixture.route(.apns) }
        for id in 1...100 {
            store.add(Fixture.batch(Int64(id), size: size, on: .apns), Fixture.jobs(size, on: .apns))
        }
        let slow = ScriptedTransport(capacity: 8)
        let fast = ScriptedTransport(capacity: 20, answer: ScriptedTransport.delivering)
        try await Fixture.withWorker(store, fast, configuration, others: [.apns: slow]) { _ in
            await Fixture.until { slow.sent.count == 9 }
            for id in 201...240 {
                store.add(Fixture.batch(Int64(id), size: Self.size), Fixture.jobs(Self.size, from: 1000 * Int64(id)))
            }
            await Fixture.until { store.items.count == 40 * Self.size }
            // What is in flight, what is read ahead, and a claim that was under way.
            #expect(store.state.withLock { $0.held.count } <= (9 + Self.size) / size + 2)
        }
        #expect(slow.sent.count == 9)
    }
}

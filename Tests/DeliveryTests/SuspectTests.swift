import Delivery
import Domain
import Testing
import Threading

/// A batch whose holders died twice.
@Suite(.timeLimit(.minutes(1))) struct SuspectTests {
    private static func suspect(_ id: Int64, size: Int) -> ClaimedBatch {
        Fixture.batch(id, size: size, lapses: 2, announced: 0)
    }

    /// What the last flush announced of a batch.
    private static func announced(_ id: Int64, _ store: ScriptedStore) -> Int32? {
        store.flushes.last?.held.first { $0.batch == Batch.ID(id) }?.announce
    }

    private static func passFlushes(_ count: Int, _ store: ScriptedStore) async {
        let seen = store.flushes.count
        await Fixture.until { store.flushes.count >= seen + count }
    }

    @Test func `it is sent alone, one job at a time, and nothing is claimed beside it`() async throws {
        let transport = ScriptedTransport()
        let store = ScriptedStore()
        store.add(Fixture.batch(1, size: 2), Fixture.jobs(2, from: 100))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 2 }
            store.add(Self.suspect(2, size: 3), Fixture.jobs(3, from: 200))
            store.add(Fixture.batch(3, size: 2), Fixture.jobs(2, from: 300))
            await Fixture.until { Self.announced(2, store) != nil }
            // What is in flight comes first: nothing of it is announced, so a death now says nothing of it.
            await Self.passFlushes(2, store)
            #expect(Self.announced(2, store) == 0 && transport.sentNumbers == [100, 101])
            for index in 0..<2 { transport.answer(index) }
            for job in 0..<3 {
                await Fixture.until { transport.sent.count == 3 + job }
                await Self.passFlushes(2, store)
                #expect(Self.announced(2, store) == Int32(job + 1) && transport.sent.count == 3 + job)
                transport.answer(2 + job)
            }
            await Fixture.until { transport.sent.count == 7 }
            for index in 5..<7 { transport.answer(index) }
            await Fixture.until { store.items.count == 7 }
        }
        #expect(transport.sentNumbers == [100, 101, 200, 201, 202, 300, 301])
        #expect(store.handBacks.isEmpty)
    }

    @Test func `campaigns that wait beside it go back to the others`() async throws {
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore()
        store.add(Fixture.batch(1, size: 3), Fixture.jobs(3, from: 100))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 1 }
            store.add(Self.suspect(2, size: 1), Fixture.jobs(1, from: 200))
            await Fixture.until { Self.announced(2, store) != nil }
            transport.answer(0)
            await Fixture.until { transport.sent.count == 2 }
            transport.answer(1)
            await Fixture.until { store.items.count == 2 }
        }
        #expect(transport.sentNumbers == [100, 200])
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
    }

    @Test func `single notifications go first, and after a second of them it has a turn, alone`() async throws {
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore()
        var single = Fixture.batch(1, size: 4)
        single.terms.lane = .transactional
        store.add(single, Fixture.jobs(4, from: 100))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 1 }
            store.add(Self.suspect(2, size: 1), Fixture.jobs(1, from: 200))
            await Fixture.until { Self.announced(2, store) != nil }
            transport.answer(0)
            await Fixture.until { transport.sent.count == 2 }
            let begun = ContinuousClock.now
            await Fixture.until { ContinuousClock.now > begun + .milliseconds(1100) }
            #expect(Self.announced(2, store) == 0)
            transport.answer(1)
            await Fixture.until { transport.sent.count == 3 }
            await Self.passFlushes(2, store)
            #expect(transport.sentNumbers == [100, 101, 200])
            transport.answer(2)
            for index in 3..<5 {
                await Fixture.until { transport.sent.count == index + 1 }
                transport.answer(index)
            }
            await Fixture.until { store.items.count == 5 }
        }
        #expect(transport.sentNumbers == [100, 101, 200, 102, 103])
    }
}

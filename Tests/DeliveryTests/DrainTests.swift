import Delivery
import Domain
import ServiceLifecycle
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct DrainTests {
    @Test func `a drain records what is answered, begins nothing more and hands the rest back uncharged`() async throws
    {
        let transport = ScriptedTransport(capacity: 2)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        try await Fixture.withWorker(store, transport) { trigger in
            await Fixture.until { transport.sent.count == 2 }
            trigger.triggerGracefulShutdown()
            let seen = store.flushes.count
            await Fixture.until { store.flushes.count > seen }
            transport.answer(0)
            transport.answer(1)
        }
        #expect(transport.sent.count == 2)
        #expect(store.items.map(\.ordinal) == [0, 1])
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
    }

    @Test func `past the limit what is unanswered goes back as doubtful`() async throws {
        let transport = ScriptedTransport(capacity: 3)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .zero
        try await Fixture.withWorker(store, transport, configuration) { _ in
            await Fixture.until { transport.sent.count == 3 }
            transport.answer(0)
            await Fixture.until { transport.sent.count == 4 && store.items.count == 1 }
        }
        // Ordinals 0 to 3 were begun, 0 is recorded.
        #expect(store.items.map(\.ordinal) == [0])
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 4, notBefore: nil)])
    }

    @Test func `a drain claims nothing more`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        try await Fixture.withWorker(store, transport) { trigger in
            await Fixture.until { !store.flushes.isEmpty }
            trigger.triggerGracefulShutdown()
            store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        }
        let isWaiting = store.state.withLock { $0.waiting.count == 1 || $0.handBacks.count == 1 }
        #expect(isWaiting && transport.sent.isEmpty)
    }

    @Test func `a hard end records all that was answered, however many flushes it takes`() async throws {
        struct Outage: Error {}
        let isDown = Locked(false)
        let store = ScriptedStore { _, flush in if isDown.withLock({ $0 }) { throw Outage() } }
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .zero
        // A flush carries one batch.
        configuration.largestFlush = 3
        for id in 1...6 { store.add(Fixture.batch(Int64(id), size: 3), Fixture.jobs(3, from: 10 * Int64(id))) }
        let transport = ScriptedTransport()
        try await Fixture.withWorker(store, transport, configuration) { _ in
            await Fixture.until { transport.sent.count == 18 }
            isDown.withLock { $0 = true }
            for index in 0..<18 { transport.answer(index) }
            await Fixture.until { store.flushes.last?.items.isEmpty == false }
            isDown.withLock { $0 = false }
        }
        #expect(store.items.count == 18)
        #expect(store.handBacks.isEmpty)
    }
}

import Delivery
import Domain
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct FreshnessTests {
    /// Lets a flush be answered only when the test says so.
    private final class Gate: Sendable {
        private let isOpen = Locked(true)
        let waiting = Locked(0)
        func shut() { isOpen.withLock { $0 = false } }
        func open() { isOpen.withLock { $0 = true } }
        func pass() async {
            waiting.withLock { $0 += 1 }
            await Fixture.until { isOpen.withLock { $0 } }
            waiting.withLock { $0 -= 1 }
        }
    }

    @Test func `nothing is begun 700 ms after the last answered pulse was asked for, and a late answer opens nothing`()
        async throws
    {
        let gate = Gate()
        let asked = Locked<[ContinuousClock.Instant]>([])
        let sentAtFlush = Locked<[Int]>([])
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore { _, _ in
            asked.withLock { $0.append(.now) }
            sentAtFlush.withLock { $0.append(transport.sent.count) }
            await gate.pass()
        }
        store.add(Fixture.batch(size: 3), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 1 }
            // From here on no pulse is answered.
            gate.shut()
            await Fixture.until { gate.waiting.withLock { $0 } == 1 }
            let held = asked.withLock { $0.count }
            let deadline = transport.sent[0].beginBefore
            await Fixture.until { ContinuousClock.now > deadline }
            // Room for another, and time for the worker to see it: its flush of this answer comes after the look.
            transport.answer(0)
            await Fixture.until { ContinuousClock.now > asked.withLock { $0[held - 1] } + .milliseconds(750) }
            #expect(transport.sent.count == 1)
            gate.open()
            await Fixture.until { transport.sent.count == 2 }
            // The answer that was late said how things stood when it was asked for; the next one opens the gate.
            #expect(sentAtFlush.withLock { $0[held] } == 1)
            #expect(transport.sent[1].beginBefore > deadline)
            transport.answer(1)
            await Fixture.until { transport.sent.count == 3 }
            transport.answer(2)
            await Fixture.until { store.items.count == 3 }
        }
        // Whatever was begun, was begun in time of some pulse that was asked for.
        let instants = asked.withLock { $0 }
        for sent in transport.sent {
            #expect(instants.contains { $0 + .milliseconds(700) >= sent.beginBefore - .milliseconds(5) })
        }
    }

    @Test func `a worker whose pulses fail begins nothing, and goes on when one is answered`() async throws {
        struct Outage: Error {}
        let isDown = Locked(true)
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore { _, _ in if isDown.withLock({ $0 }) { throw Outage() } }
        store.add(Fixture.batch(size: 3), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { store.flushes.count >= 3 }
            #expect(transport.sent.isEmpty)
            isDown.withLock { $0 = false }
            await Fixture.until { store.items.count == 3 }
        }
    }

    @Test func `a paused run's jobs are not begun, and go back uncharged`() async throws {
        let transport = ScriptedTransport(capacity: 2)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 2 }
            store.state.withLock { $0.run = .paused }
            let seen = store.flushes.count
            await Fixture.until { store.flushes.count >= seen + 2 }
            transport.answer(0)
            transport.answer(1)
            await Fixture.until { !store.handBacks.isEmpty }
            #expect(transport.sent.count == 2)
            #expect(store.items.map(\.ordinal) == [0, 1])
            #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
        }
    }

    @Test func `a batch whose route was closed is not begun again with what it was opened with`() async throws {
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 3), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 1 }
            for state in [RouteState.paused, .open] {
                store.state.withLock { $0.route = state }
                let seen = store.flushes.count
                await Fixture.until { store.flushes.count >= seen + 2 }
            }
            transport.answer(0)
            await Fixture.until { !store.handBacks.isEmpty }
        }
        #expect(transport.sent.count == 1)
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
    }

    @Test func `what could not move during an outage is begun after it, and does not go back`() async throws {
        struct Outage: Error {}
        let isDown = Locked(false)
        var configuration = WorkerConfiguration()
        configuration.patience = .milliseconds(800)
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore { _, _ in if isDown.withLock({ $0 }) { throw Outage() } }
        store.add(Fixture.batch(size: 3), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport, configuration) { _ in
            await Fixture.until { transport.sent.count == 1 }
            isDown.withLock { $0 = true }
            transport.answer(0)
            let end = ContinuousClock.now + .milliseconds(1_600)
            await Fixture.until { ContinuousClock.now > end }
            isDown.withLock { $0 = false }
            for number in 1..<3 {
                await Fixture.until { transport.sent.count > number || !store.handBacks.isEmpty }
                guard store.handBacks.isEmpty else { break }
                transport.answer(number)
            }
            await Fixture.until { store.items.count == 3 || !store.handBacks.isEmpty }
        }
        #expect(store.handBacks.isEmpty)
        #expect(store.items.count == 3)
    }
}

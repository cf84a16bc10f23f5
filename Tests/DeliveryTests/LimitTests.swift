import Delivery
import Domain
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct LimitTests {
    private func limited(size: Int) -> ClaimedBatch {
        var batch = Fixture.batch(size: size)
        batch.terms.isLimited = true
        return batch
    }

    @Test func `whom a cap holds back is skipped, and who sleeps leaves until the morning, both unsent`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        store.state.withLock {
            $0.withheld = [
                1: Withheld(reason: .frequencyCap, wait: nil), 2: Withheld(reason: .quietHours, wait: .seconds(60)),
            ]
        }
        store.add(limited(size: 4), Fixture.jobs(4))
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 4 } }
        #expect(transport.sentNumbers == [100, 103])
        let items = store.items
        #expect(items[1].outcome == .skipped && items[1].reason == .frequencyCap && items[1].attempts == 0)
        #expect(items[2].outcome == nil && items[2].reason == .quietHours && items[2].attempts == 0)
        #expect(items[2].wait == .seconds(60) && items[2].free && !items[2].mayHaveLeft)
        #expect(store.handBacks.isEmpty)
    }

    @Test func `a batch whose people all sleep goes back whole, until the first wakes`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        store.state.withLock {
            $0.withheld = [
                0: Withheld(reason: .quietHours, wait: .seconds(90)), 2: Withheld(reason: .quietHours, wait: .seconds(60)),
            ]
        }
        var jobs = Fixture.jobs(3)
        jobs[1].recipient = Fixture.recipient(state: .unregistered)
        store.add(limited(size: 3), jobs)
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { !store.handBacks.isEmpty } }
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: .seconds(60))])
        #expect(transport.sentNumbers.isEmpty && store.items.isEmpty)
    }

    @Test func `a batch without a cap is not asked about`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        store.state.withLock { $0.withheld = [0: Withheld(reason: .frequencyCap, wait: nil)] }
        store.add(Fixture.batch(size: 1), Fixture.jobs(1))
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 1 } }
        #expect(transport.sentNumbers == [100])
    }
}

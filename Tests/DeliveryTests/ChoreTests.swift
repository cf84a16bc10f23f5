import Delivery
import Domain
import ServiceLifecycle
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct ChoreTests {
    private struct Broken: Error {}

    @Test func `a hand-back that fails is repeated, and its batch is named in every flush until then`() async throws {
        let failures = Locked(2)
        let transport = ScriptedTransport(capacity: 100, answer: ScriptedTransport.delivering)
        let named = Locked<[Bool]>([])
        let store = ScriptedStore(
            beforeFlush: { _, flush in named.withLock { $0.append(flush.held.contains { $0.batch == Batch.ID(1) }) } },
            beforeHandBack: { _ in
                let fails = failures.withLock { count in
                    count -= 1
                    return count >= 0
                }
                if fails { throw Broken() }
            })
        store.state.withLock { $0.run = .paused }
        store.add(Fixture.batch(size: 200, announced: 0), Fixture.jobs(200))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { !store.handBacks.isEmpty }
        }
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
        #expect(transport.sent.isEmpty)
        // From the first flush that named it, until it was back, without a gap: nobody took it for a stranger.
        let flushes = named.withLock { $0 }
        let first = try #require(flushes.firstIndex(of: true))
        let last = try #require(flushes.lastIndex(of: true))
        #expect(flushes[first...last].allSatisfy { $0 })
    }

    @Test(
        arguments: [
            .answered(.slowDown(.fcmQuotaExceeded, after: .seconds(1))), .answered(.credential(.fcmPermissionDenied)),
            .answered(.config(.fcmUnexpectedStatus)), .answered(.delivered(messageID: "m")),
        ] as [SendResult.Fate])
    func `no flush waits for what the fleet is told of a route, a credential or an address`(
        fate: SendResult.Fate
    ) async throws {
        let isTelling = Locked(false)
        let mayTell = Locked(false)
        let transport = ScriptedTransport(environment: .sandbox, answer: { _ in fate })
        let store = ScriptedStore(beforeChore: {
            isTelling.withLock { $0 = true }
            await Fixture.until { mayTell.withLock { $0 } }
        })
        store.add(Fixture.batch(size: 12), Fixture.jobs(12))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { isTelling.withLock { $0 } }
            let seen = store.flushes.count
            await Fixture.until { store.flushes.count >= seen + 3 }
            mayTell.withLock { $0 = true }
        }
        #expect(store.state.withLock { $0.slowed.count + $0.pauses.count + $0.trips.count + $0.proven.count } > 0)
    }

    @Test func `on leaving, an outcome that could not be recorded goes back as doubtful`() async throws {
        let isDown = Locked(false)
        let transport = ScriptedTransport(capacity: 3)
        let store = ScriptedStore(beforeFlush: { _, _ in if isDown.withLock({ $0 }) { throw Broken() } })
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .zero
        try await Fixture.withWorker(store, transport, configuration) { _ in
            await Fixture.until { transport.sent.count == 3 }
            isDown.withLock { $0 = true }
            for index in 0..<3 { transport.answer(index) }
        }
        // All that was begun is answered, and none of it is recorded.
        #expect(store.items.isEmpty)
        let begun = try #require(store.handBacks.first?.begun)
        #expect(begun >= 3)
    }

    @Test func `a second signal ends a drain hard, and what is unanswered goes back as doubtful`() async throws {
        let transport = ScriptedTransport(capacity: 3)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await Fixture.withWorker(store, transport) { trigger in
                    await Fixture.until { transport.sent.count == 3 }
                    trigger.triggerGracefulShutdown()
                }
            }
            let seen = store.flushes.count
            await Fixture.until { transport.sent.count == 3 && store.flushes.count > seen + 1 }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 3, notBefore: nil)])
    }

    @Test func `a batch is begun on its own confirmation, however fresh its shard is`() async throws {
        // The claim was asked for long before the pulse, and says how things stood then.
        let mayClaim = Locked(false)
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore(beforeClaim: {
            let asked = ContinuousClock.now
            await Fixture.until { mayClaim.withLock { $0 } && ContinuousClock.now > asked + .milliseconds(800) }
        })
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { store.flushes.count > 2 }
            store.state.withLock { $0.run = .paused }
            mayClaim.withLock { $0 = true }
            await Fixture.until { !store.handBacks.isEmpty }
        }
        #expect(transport.sent.isEmpty)
    }
}

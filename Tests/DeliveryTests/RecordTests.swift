import Delivery
import Domain
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct RecordTests {
    struct LostReply: Error {}

    @Test func `a flush whose reply was lost is repeated, and its outcomes count once`() async throws {
        let lost = Locked(0)
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore(afterFlush: { _, flush in
            // The first that carries outcomes takes effect, and nobody hears of it.
            let isLost = lost.withLock { lost in
                guard !flush.items.isEmpty, lost == 0 else { return false }
                lost += 1
                return true
            }
            if isLost { throw LostReply() }
        })
        store.add(Fixture.batch(size: 8), Fixture.jobs(8))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { store.flushes.filter { !$0.items.isEmpty }.count >= 2 }
        }
        let carrying = store.flushes.filter { !$0.items.isEmpty }
        #expect(carrying.count == 2)
        #expect(carrying[0].items.map(\.ordinal) == carrying[1].items.map(\.ordinal))
        #expect(store.items.map(\.outcome) == Array(repeating: .delivered, count: 8))
        #expect(transport.sentNumbers == (100..<108).map { $0 })
        #expect(store.handBacks.isEmpty)
    }

    @Test func `each repeat of a flush says anew how long ago its jobs were begun`() async throws {
        let first = Locked<ContinuousClock.Instant?>(nil)
        let store = ScriptedStore(beforeFlush: { _, flush in
            guard !flush.items.isEmpty else { return }
            let since = first.withLock { first in
                first = first ?? .now
                return first ?? .now
            }
            if ContinuousClock.now < since + .milliseconds(400) { throw LostReply() }
        })
        store.add(Fixture.batch(size: 1), Fixture.jobs(1))
        try await Fixture.withWorker(store, ScriptedTransport(answer: ScriptedTransport.delivering)) { _ in
            await Fixture.until { store.items.count == 1 }
        }
        let spans = store.flushes.flatMap(\.items).compactMap(\.begunMillisecondsAgo)
        #expect(spans.count >= 2 && zip(spans, spans.dropFirst()).allSatisfy { $0 < $1 })
        #expect(try #require(spans.first) >= 5 && #require(spans.last) >= 400)
        #expect(store.items[0].latencyMilliseconds == 5)
    }

    @Test func `a batch that the answer does not name is dropped, and a late result of it finds nothing`() async throws
    {
        let transport = ScriptedTransport(capacity: 2)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 2 }
            // Rescued: another worker's now.
            store.state.withLock { $0.held = [:] }
            let seen = store.flushes.count
            await Fixture.until { store.flushes.dropFirst(seen).contains { $0.held.isEmpty } }
            transport.answer(0)
            transport.answer(1)
            let then = store.flushes.count
            await Fixture.until { store.flushes.count >= then + 2 }
        }
        #expect(transport.sent.count == 2)
        #expect(store.flushes.flatMap(\.items).isEmpty)
        #expect(store.handBacks.isEmpty)
    }

    @Test func `outcomes that come a few at a time gather before they are flushed`() async throws {
        let begun = Locked<[ContinuousClock.Instant]>([])
        let store = ScriptedStore(beforeFlush: { _, _ in begun.withLock { $0.append(.now) } })
        var configuration = WorkerConfiguration()
        // Longer than a pulse, so that nothing else keeps two flushes so far apart.
        configuration.flushRest = configuration.pulse * 2
        let rest = configuration.flushRest
        try await Fixture.withWorker(
            store, ScriptedTransport(answer: ScriptedTransport.delivering), configuration
        ) { _ in
            for number in 1...3 {
                store.add(Fixture.batch(Int64(number), size: 1), Fixture.jobs(1))
                await Fixture.until { store.items.count == number }
            }
        }
        let times = begun.withLock { $0 }
        #expect(times.count > 3)
        // The last are those of the end, which waits for nothing.
        #expect(zip(times.prefix(3), times.dropFirst()).allSatisfy { $0 + rest <= $1 })
    }

    @Test func `a job that waits for its announcement waits for no outcomes to gather`() async throws {
        let store = ScriptedStore()
        var configuration = WorkerConfiguration()
        configuration.flushRest = .seconds(2)
        store.add(Fixture.batch(size: 100, announced: 1, window: 1), Fixture.jobs(100))
        try await Fixture.withWorker(
            store, ScriptedTransport(answer: ScriptedTransport.delivering), configuration
        ) { _ in
            // By the time limit of the suite: a hundred rests would last longer.
            await Fixture.until { store.items.count == 100 }
        }
        #expect(store.items.map(\.outcome) == Array(repeating: .delivered, count: 100))
    }

    @Test func `what did not leave is begun again, free of charge`() async throws {
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 1), Fixture.jobs(1))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 1 }
            transport.answer(0, .notSent(.connectionLost))
            await Fixture.until { transport.sent.count == 2 }
            transport.answer(1)
            await Fixture.until { store.items.count == 1 }
        }
        #expect(transport.sentNumbers == [100, 100])
        #expect(store.items.map(\.attempts) == [1] && store.items.map(\.outcome) == [.delivered])
    }

    @Test func `a suspect batch announces and begins one job at a time`() async throws {
        let transport = ScriptedTransport()
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 3, lapses: 2, announced: 1), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport) { _ in
            for number in 0..<3 {
                await Fixture.until { transport.sent.count == number + 1 }
                let seen = store.flushes.count
                await Fixture.until { store.flushes.count >= seen + 2 }
                #expect(transport.sent.count == number + 1)
                #expect(store.flushes.last?.held.allSatisfy { $0.announce <= number + 1 } == true)
                transport.answer(number)
            }
            await Fixture.until { store.items.count == 3 }
        }
    }

    @Test func `answers that no job can have caused open the breaker, and later ones stay with their batch`()
        async throws
    {
        let transport = ScriptedTransport(answer: { _ in .answered(.config(.fcmUnexpectedStatus)) })
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 12), Fixture.jobs(12))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { !store.handBacks.isEmpty }
        }
        #expect(store.state.withLock { $0.trips } == [.fcmUnexpectedStatus])
        #expect(store.items.count == 4 && store.items.allSatisfy { $0.outcome == nil && $0.free && $0.attempts == 0 })
        #expect(store.handBacks.first?.begun == 0)
        let wait = store.handBacks.first?.notBefore ?? .zero
        #expect(wait >= .seconds(1) && wait <= .seconds(5))
    }

    @Test func `a 429 of the project slows the route for the fleet and costs the job nothing`() async throws {
        let transport = ScriptedTransport(answer: { _ in .answered(.slowDown(.fcmQuotaExceeded, after: .seconds(60))) })
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 3), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { store.items.count == 3 && !store.state.withLock { $0.slowed.isEmpty } }
        }
        #expect(store.state.withLock { $0.slowed.first } == .seconds(60))
        #expect(store.items.allSatisfy { $0.free && $0.attempts == 0 && $0.wait >= .seconds(60) })
    }

    @Test func `a fault of the credential pauses it and costs the job nothing`() async throws {
        let transport = ScriptedTransport(answer: { _ in .answered(.credential(.fcmPermissionDenied)) })
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 2), Fixture.jobs(2))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { store.items.count == 2 && !store.state.withLock { $0.pauses.isEmpty } }
        }
        #expect(store.items.allSatisfy { $0.outcome == nil && $0.free && $0.attempts == 0 })
    }

    @Test func `what a credential's fault leaves of a batch is not begun, and goes back once the fleet knows of it`()
        async throws
    {
        let (isTelling, mayTell) = (Locked(false), Locked(false))
        let transport = ScriptedTransport(capacity: 1)
        let store = ScriptedStore(beforeChore: {
            isTelling.withLock { $0 = true }
            await Fixture.until { mayTell.withLock { $0 } }
        })
        store.add(Fixture.batch(size: 5), Fixture.jobs(5))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 1 }
            transport.answer(0, .answered(.credential(.fcmPermissionDenied)))
            await Fixture.until { isTelling.withLock { $0 } }
            let seen = store.flushes.count
            await Fixture.until { store.flushes.count >= seen + 3 }
            #expect(store.handBacks.isEmpty)
            mayTell.withLock { $0 = true }
            await Fixture.until { !store.handBacks.isEmpty }
        }
        #expect(transport.sent.count == 1)
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
        let fault = CredentialFault(reason: .fcmPermissionDenied, fingerprint: [1], revision: 1)
        #expect(store.state.withLock { $0.faults } == [fault])
    }

    @Test func `a credential that cannot be used here is paused, and its batch waits`() async throws {
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 2), Fixture.jobs(2))
        try await Fixture.withWorker(store, nil) { _ in
            await Fixture.until { !store.handBacks.isEmpty }
        }
        #expect(store.state.withLock { $0.pauses } == [.credentialUnusable])
        #expect(store.handBacks == [.init(batch: Batch.ID(1), begun: 0, notBefore: nil)])
    }
}

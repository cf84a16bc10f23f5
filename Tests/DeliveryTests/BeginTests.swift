import Delivery
import Domain
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct BeginTests {
    struct Settled: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout PushJob) -> Void
        var outcome: Outcome
        var reason: Reason
    }

    @Test(arguments: [
        Settled(testDescription: "erased", change: { $0.recipient = nil }, outcome: .skipped, reason: .erased),
        Settled(
            testDescription: "expired", change: { $0.expiresAt = Fixture.now + .seconds(-1) }, outcome: .expired,
            reason: .none),
        Settled(
            testDescription: "unregistered", change: { $0.recipient?.state = .unregistered }, outcome: .skipped,
            reason: .notActive),
        Settled(
            testDescription: "wrong project", change: { $0.recipient?.state = .wrongProject }, outcome: .skipped,
            reason: .notActive),
        Settled(
            testDescription: "quarantined", change: { $0.recipient?.state = .quarantined }, outcome: .skipped,
            reason: .notActive),
        Settled(
            testDescription: "no way out", change: { $0.recipient?.transport = .apns }, outcome: .skipped,
            reason: .noRoute),
    ])
    func `what needs no request is settled without one, and costs no attempt`(settled: Settled) async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        var jobs = Fixture.jobs(3)
        settled.change(&jobs[1])
        store.add(Fixture.batch(size: 3), jobs)
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 3 } }
        #expect(transport.sentNumbers == [100, 102])
        #expect(store.items[1].outcome == settled.outcome && store.items[1].reason == settled.reason)
        #expect(store.items[1].attempts == 0)
    }

    @Test func `a subscriber that moved since expansion leaves for its new route, uncharged and unsent`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        store.state.withLock { $0.routes[.apns] = Fixture.route(.apns) }
        var jobs = Fixture.jobs(2)
        jobs[0].recipient = Fixture.recipient(.apns)
        store.add(Fixture.batch(size: 2), jobs)
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 2 } }
        #expect(transport.sentNumbers == [101])
        let item = store.items[0]
        #expect(item.outcome == nil && item.free && item.attempts == 0 && !item.mayHaveLeft)
        #expect(item.route == Fixture.route(.apns).id)
    }

    /// The batch has an hour left.
    @Test(arguments: [(nil, 3600), (0, 0), (7200, 3600)] as [(Int?, Int64)])
    func `a provider is told what is left of a message's life, or to keep it for nobody`(
        asked: Int?, told: Int64
    ) async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        store.state.withLock { state in
            let known = state.content
            state.content = ContentVersion(
                id: known.id, message: known.message, delivery: DeliveryOptions(ttlSeconds: asked))
        }
        store.add(Fixture.batch(size: 1), Fixture.jobs(1))
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 1 } }
        let remaining = transport.sent.map(\.job.remainingSeconds)
        #expect(remaining.count == 1 && (told - 5...told).contains(remaining[0]))
    }

    @Test func `a second try is begun as any other job, knows of the first, and is one attempt with it`() async throws {
        let transport = ScriptedTransport { job in
            job.secondTry == nil ? .tryAgain(.otherEnvironment(.sandbox)) : ScriptedTransport.delivering(job)
        }
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 3), Fixture.jobs(3))
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 3 } }
        #expect(transport.sentNumbers == [100, 101, 102, 100, 101, 102])
        #expect(
            transport.sent.map(\.job.secondTry) == [nil, nil, nil]
                + Array(repeating: .otherEnvironment(.sandbox), count: 3))
        #expect(store.items.allSatisfy { $0.outcome == .delivered && $0.attempts == 1 && !$0.free })
    }

    @Test func `a suspect address is still sent to`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        store.add(Fixture.batch(size: 1), [Fixture.job(0, recipient: Fixture.recipient(state: .suspect))])
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 1 } }
        #expect(store.items.map(\.outcome) == [.delivered])
    }

    @Test func `no job is begun above what the database announced`() async throws {
        let transport = ScriptedTransport()
        let store = ScriptedStore(beforeFlush: { number, flush in
            // What is asked for with this flush may begin only after its answer.
            for held in flush.held where number == 0 { #expect(held.announce <= 4) }
        })
        store.add(Fixture.batch(size: 4, announced: 2), Fixture.jobs(4))
        try await Fixture.withWorker(store, transport) { _ in
            await Fixture.until { transport.sent.count == 4 }
            let announced = store.flushes.flatMap(\.held).map(\.announce)
            #expect(announced.max() == 4)
            for number in 0..<4 { transport.answer(number) }
            await Fixture.until { store.items.count == 4 }
        }
    }

    @Test func `jobs begin in the order of their ordinals, each with what is left of its life`() async throws {
        let transport = ScriptedTransport(answer: ScriptedTransport.delivering)
        let store = ScriptedStore()
        var jobs = Fixture.jobs(3)
        jobs[2].expiresAt = Fixture.now + .seconds(100)
        store.add(Fixture.batch(size: 3), jobs)
        try await Fixture.withWorker(store, transport) { _ in await Fixture.until { store.items.count == 3 } }
        #expect(transport.sentNumbers == [100, 101, 102])
        let remaining = transport.sent.map(\.job.remainingSeconds)
        #expect((3590...3600).contains(remaining[0]) && (90...100).contains(remaining[2]))
    }
}

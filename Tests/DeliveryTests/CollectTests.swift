import Delivery
import Domain
import Testing
import Threading

/// How much is collected of single notifications, and whose.
@Suite(.timeLimit(.minutes(1))) struct CollectTests {
    /// Notifications of several runs, each run on a route of its own, the first run's first.
    private final class ScriptedLane: LaneStore {
        let store: ScriptedStore
        let waiting: Locked<[(template: ClaimedBatch, count: Int)]>
        private let lastID = Locked<Int64>(0)

        init(_ store: ScriptedStore, _ waiting: [(template: ClaimedBatch, count: Int)]) {
            self.store = store
            self.waiting = Locked(waiting)
        }

        func takeDuty(_ worker: WorkerID, for span: Duration) -> Int16? { 1 }

        func hasDue(in shard: Shard, without sated: Set<Run.ID>) -> Bool {
            waiting.withLock { $0.contains { $0.count > 0 && !sated.contains($0.template.run) } }
        }

        func collect(
            shard: Shard, worker: WorkerID, claimNumber: Int32, limit: Int32, without sated: Set<Run.ID>
        ) -> [CollectedBatch] {
            let taken = waiting.withLock { waiting -> ClaimedBatch? in
                let index = waiting.firstIndex { $0.count > 0 && !sated.contains($0.template.run) }
                guard let index else { return nil }
                let size = min(Int(limit), waiting[index].count)
                waiting[index].count -= size
                let template = waiting[index].template
                let id = lastID.withLock { id in
                    id += 1
                    return id
                }
                var batch = Fixture.batch(id, size: size, on: template.route == Fixture.route(.apns).id ? .apns : .fcm)
                batch.run = template.run
                batch.terms = template.terms
                batch.isCollected = true
                return batch
            }
            guard let taken else { return [] }
            let kind = taken.route == Fixture.route(.apns).id ? TransportKind.apns : .fcm
            store.state.withLock { state in
                state.held[taken.id] = taken
                state.jobs[taken.id] = Fixture.jobs(taken.size, from: 10_000 * taken.id.rawValue, on: kind)
            }
            return [CollectedBatch(batch: taken, contentVersions: [taken.contentVersion])]
        }

        func contentVersions(of batch: ClaimedBatch) -> [ContentVersion.ID] { [batch.contentVersion] }
    }

    /// Of an app under a rate a second's worth is held, of one whose provider is slow a budget.
    @Test(arguments: [(20, 1_900), (nil, 1_500)] as [(Int?, Int)])
    func `one app's backlog of single notifications keeps no other's waiting`(rate: Int?, left: Int) async throws {
        let store = ScriptedStore()
        store.state.withLock { state in
            state.routes[.apns] = Fixture.route(.apns)
            state.slots = .slots([])
        }
        var (first, second) = (Fixture.batch(size: 1, on: .apns), Fixture.batch(size: 1))
        first.run = Run.ID(1)
        first.terms.appRate = rate
        second.run = Run.ID(2)
        first.terms.lane = .transactional
        second.terms.lane = .transactional
        let lane = ScriptedLane(store, [(first, 2_000), (second, 0)])
        var configuration = WorkerConfiguration()
        configuration.drainLimit = .zero
        let fast = ScriptedTransport(answer: ScriptedTransport.delivering)
        let slow = ScriptedTransport(capacity: 8)
        try await Fixture.withWorker(store, fast, configuration, others: [.apns: slow], lane: lane) { _ in
            await Fixture.until { lane.waiting.withLock { $0[0].count } == left }
            lane.waiting.withLock { $0[1].count = 3 }
            await Fixture.until { store.items.count == 3 }
        }
        #expect(lane.waiting.withLock { $0.map(\.count) } == [left, 0])
    }
}

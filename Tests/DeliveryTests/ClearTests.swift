import Domain
import Housekeeping
import Logging
import Testing
import Threading

@Suite(.timeLimit(.minutes(1))) struct ClearTests {
    @Test func `what a janitor cannot clear holds up nothing else that it clears`() async throws {
        let store = UnclearedStore()
        let janitor = Janitor(
            identity: WorkerID("00000000-0000-0000-0000-000000000001"), store: store, draw: { 0.5 },
            logger: Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await janitor.run() }
            for await _ in store.rounds.prefix(2) {}
            group.cancelAll()
        }
        #expect(Array(store.calls.withLock { $0 }.prefix(5)) == ["days", "buckets", "rates", "workers", "tokens"])
    }
}

/// Cannot make days nor drop job partitions.
private struct UnclearedStore: HousekeepingStore {
    private struct Refusal: Error {}

    let calls = Locked<[String]>([])
    /// An element for each time that its last part was cleared.
    let rounds: AsyncStream<Void>
    private let cleared: AsyncStream<Void>.Continuation

    init() { (rounds, cleared) = AsyncStream.makeStream() }

    private func note(_ call: String) { calls.withLock { $0.append(call) } }

    func ensureDays() async throws {
        note("days")
        throw Refusal()
    }

    func dropBuckets(shards: [Shard]) async throws -> Int {
        note("buckets")
        throw Refusal()
    }

    func forgetRates(olderThan: Duration) async throws { note("rates") }
    func forgetWorkers(lapsedFor: Duration) async throws { note("workers") }

    func clearTokens(grace: Duration) async throws -> Int {
        note("tokens")
        cleared.yield()
        return 0
    }

    func shards() async throws -> [Shard] { [Shard(rawValue: 0)] }
    func sight(as janitor: WorkerID, longestGap: Duration) async throws {}
    func rescue(shard: Shard, span: Duration) async throws -> Int { 0 }
    func settle(shard: Shard) async throws -> Int { 0 }
    func raiseWatermarks(shard: Shard) async throws {}
    func sweep(shard: Shard) async throws -> Int { 0 }
    func closeRuns() async throws -> Int { 0 }
    func judgeTokens(hold: Duration) async throws -> TokenJudgement {
        TokenJudgement(retired: 0, newWaves: [], pausedRuns: [])
    }
    func forgetFrequencies(after place: FrequencyPlace, limit: Int32) async throws -> FrequencyPlace? { nil }
}

import ArgumentParser
import Domain
import Logging
import Postgres
import QueueStore

/// Claims, reads and records batch after batch over one connection, one statement after the other, and says what each
/// kind of statement took.
struct ClaimBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim", abstract: "Times the statements of a worker.",
        discussion: "EXAMPLE\n  Bench claim --database URL --claims 1000")
    @Option(help: "PostgreSQL URL.") var database: String
    @Flag(help: "Prepare no statements.") var unprepared = false
    @Option(help: "Batches.") var claims = 1000

    private static let lease = Duration.seconds(15)

    func run() async throws {
        let client = PostgresClient(
            PostgresConfiguration(database, preparedStatements: !unprepared), connections: 1,
            logger: Logger(label: "bench"))
        let store = PostgresBatchStore(claims: client, flushes: client)
        let schedule = PostgresScheduleStore(client: client)
        let worker = WorkerID(try QueueBench.identity())
        try await store.enlist(worker, lease: Self.lease)
        guard let shard = try await store.shards().first else {
            throw ValidationError("database: it has no shard; migrate it first")
        }
        var times = Times()
        var pairs: [Pair] = []
        var readAt: ContinuousClock.Instant?
        var claimed = 0
        var attempts: Int32 = 0
        while claimed < claims {
            if readAt.map({ $0 + .seconds(1) < .now }) ?? true || pairs.isEmpty {
                try await schedule.refreshHeads(of: shard, lane: .campaign)
                pairs = try await times.measure(\.heads) { try await store.heads(of: shard, lane: .campaign) }
                readAt = .now
            }
            attempts += 1
            let (number, named) = (attempts, pairs)
            let batch = try await times.measure(\.claim) {
                try await store.claim(shard: shard, worker: worker, claimNumber: number, pairs: named)
            }
            guard let batch else {
                pairs = []
                continue
            }
            claimed += 1
            let jobs = try await times.measure(\.read) { try await store.jobs(of: batch, attributes: []) }
            _ = try await times.measure(\.flush) {
                try await store.flush(Self.delivered(jobs, of: batch, number), worker: worker, lease: Self.lease)
            }
        }
        await client.close()
        print(times.json)
    }

    private static func delivered(_ jobs: [PushJob], of batch: ClaimedBatch, _ number: Int32) -> Flush {
        Flush(
            shard: batch.shard, answeredClaims: number, checkedClaims: number,
            held: [Flush.Held(batch: batch.id, epoch: batch.epoch, announce: Int32(batch.size))],
            items: jobs.map {
                Flush.Item(
                    batch: batch.id, ordinal: $0.ordinal, number: $0.number, subscriber: $0.subscriber,
                    outcome: .delivered, status: 200, reason: .none, attempts: 1, language: "en",
                    begunMillisecondsAgo: 1, latencyMilliseconds: 1)
            })
    }

    /// Microseconds of each kind of statement.
    private struct Times {
        var heads: [Int] = []
        var claim: [Int] = []
        var read: [Int] = []
        var flush: [Int] = []

        mutating func measure<T: Sendable>(
            _ kind: WritableKeyPath<Times, [Int]>, _ body: () async throws -> T
        ) async throws -> T {
            let start = ContinuousClock.now
            let value = try await body()
            self[keyPath: kind].append(Int((ContinuousClock.now - start) / .microseconds(1)))
            return value
        }

        var json: String {
            let parts = [("heads", heads), ("claim", claim), ("read", read), ("flush", flush)].map { name, times in
                let sorted = times.sorted()
                let (half, most) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
                return #""\#(name)": {"p50": \#(half), "p99": \#(most), "count": \#(times.count)}"#
            }
            return "{" + parts.joined(separator: ", ") + "}"
        }
    }
}

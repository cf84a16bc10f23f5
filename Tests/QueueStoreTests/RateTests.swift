import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import QueueStore

/// Slots are asked for at instants of the test's own, so that a minute passes in no time.
@Suite(.timeLimit(.minutes(3))) struct RateTests {
    private static let start = Instant(microseconds: 1_900_000_000_000_000)

    private struct Rates {
        var run: Int32?
        var route: Int32?
        var app: Int32?
        var lane: Int16 = 1
    }

    private func withPair(_ rates: Rates, _ body: (QueueFixture, Pair) async throws -> Void) async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let run = try await queue.makeRun()
            try await set(rates, of: run, queue)
            try await body(queue, Pair(run: run, route: queue.route))
            _ = try await queue.client.query("UPDATE pushfleet.run SET status = 3")
        }
    }

    private func set(_ rates: Rates, of run: Run.ID, _ queue: QueueFixture) async throws {
        _ = try await queue.client.query("UPDATE pushfleet.app SET rate = \(rates.app)")
        _ = try await queue.client.query("UPDATE pushfleet.route SET rate = \(rates.route), ramp = '0'")
        _ = try await queue.client.query(
            "UPDATE pushfleet.run SET rate = \(rates.run), lane = \(rates.lane) WHERE id = \(run.rawValue)")
    }

    private func take(
        _ pair: Pair, _ wanted: Int32, after span: Duration, _ queue: QueueFixture
    ) async throws -> SlotGrant {
        SlotGrant(
            try await queue.client.query(
                .takeSlots(for: pair, wanted: wanted, ahead: .milliseconds(250), at: Self.start + span)))
    }

    /// The most that could be begun in any second: each slot at the worst instant of its slice.
    private func worstSecond(_ slots: [RateSlots]) -> Int {
        let merged = Dictionary(slots.map { ($0.beginsAt, $0.count) }, uniquingKeysWith: +).sorted { $0.key < $1.key }
        return merged.map { first in
            // From the last moment of the first slice on.
            merged.filter { $0.key >= first.key && $0.key < first.key + (.seconds(1) + RateSlots.life) }
                .reduce(0) { $0 + $1.value }
        }.max() ?? 0
    }

    @Test(arguments: [1, 3, 20, 333, 5000] as [Int32], [3, 9])
    func `in no second more begins than the rate, 5 % and one, whatever the number of workers`(
        rate: Int32, workers: Int
    ) async throws {
        try await withPair(Rates(run: rate)) { queue, pair in
            var generator = Seeded(seed: UInt64(rate) * 31 + UInt64(workers))
            var all: [RateSlots] = []
            var asked = Duration.zero
            while asked < .seconds(4) {
                let at = asked
                let wants = (0..<workers).map { _ in Int32.random(in: 1...max(2, rate), using: &generator) }
                all += try await withThrowingTaskGroup(of: SlotGrant.self) { group in
                    for wanted in wants { group.addTask { try await take(pair, wanted, after: at, queue) } }
                    return try await group.reduce(into: []) { slots, grant in
                        guard case .slots(let more) = grant else { return }
                        slots += more
                    }
                }
                // Now and then the database cannot be reached for a while.
                let pause = Int.random(in: 0..<20, using: &generator) == 0
                asked += pause ? .milliseconds(1300) : .milliseconds(Int.random(in: 20...200, using: &generator))
            }
            #expect(worstSecond(all) <= Int((Double(rate) * 1.05).rounded(.down)) + 1)
            #expect(all.allSatisfy { $0.count > 0 && $0.beginsAt >= Self.start - .milliseconds(30) })
        }
    }

    @Test(arguments: [1, 7, 20, 500, 3000] as [Int32])
    func `who asks in time gets the whole rate`(rate: Int32) async throws {
        try await withPair(Rates(run: rate)) { queue, pair in
            var taken = 0
            for tenth in 0..<30 {
                guard case .slots(let slots) = try await take(pair, 10_000, after: .milliseconds(tenth * 100), queue)
                else { continue }
                taken += slots.filter { $0.beginsAt < Self.start + .seconds(3) }.reduce(0) { $0 + $1.count }
            }
            #expect(taken == Int(rate) * 3)
        }
    }

    @Test func `nothing carries over a pause`() async throws {
        try await withPair(Rates(run: 100)) { queue, pair in
            _ = try await take(pair, 10_000, after: .zero, queue)
            let later = try await take(pair, 10_000, after: .seconds(3600), queue)
            guard case .slots(let slots) = later else { throw Unexpected() }
            #expect(slots.reduce(0) { $0 + $1.count } == 25)
            #expect(slots.map(\.beginsAt).min() == Self.start + .seconds(3600))
        }
    }

    @Test func `a job holds slots of its run, its route and its app in one slice`() async throws {
        try await withPair(Rates(run: 400, route: 300, app: 200)) { queue, pair in
            guard case .slots(let slots) = try await take(pair, 1000, after: .zero, queue) else { throw Unexpected() }
            // Nine tenths of the tightest, 180 a second, five slices of it.
            #expect(slots.map(\.count) == [9, 9, 9, 9, 9])
            let rows = try await queue.client.query("SELECT key, taken FROM pushfleet.rate_second ORDER BY key")
            #expect(rows.map { $0.string(0).prefix { $0 != ":" } } == ["app", "route", "run"])
            #expect(rows.allSatisfy { $0.int32(1) == 45 })
        }
    }

    @Test(arguments: [10, 1000] as [Int32])
    func `campaigns take at most nine tenths of a route's rate, the lane takes the rest`(rate: Int32) async throws {
        try await withPair(Rates(route: rate)) { queue, pair in
            func takeSecond() async throws -> Int {
                var taken = 0
                for quarter in 0..<4 {
                    let grant = try await take(pair, 10_000, after: .milliseconds(quarter * 250), queue)
                    guard case .slots(let slots) = grant else { throw Unexpected() }
                    taken += slots.reduce(0) { $0 + $1.count }
                }
                return taken
            }
            #expect(try await takeSecond() == Int(rate) * 9 / 10)
            try await set(Rates(route: rate, lane: 0), of: pair.run, queue)
            #expect(try await takeSecond() == Int(rate) / 10)
        }
    }

    @Test func `without a rate there is no timetable`() async throws {
        try await withPair(Rates()) { queue, pair in
            let grant = try await queue.batches.takeSlots(for: pair, wanted: 7, ahead: .milliseconds(250))
            #expect(grant == .unlimited)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.rate_second") == 0)
        }
    }

    @Test func `batches of a throttled run hold a second's worth, those cut from retries too`() async throws {
        try await QueueFixture.run(subscribers: 40) { queue in
            let run = try await queue.makeRun(batchSize: 20)
            _ = try await queue.client.query("UPDATE pushfleet.run SET rate = 7")
            try await queue.expand(run, pageSize: 100)
            #expect(try await queue.count("SELECT max(size)::bigint FROM pushfleet.batch") == 7)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.batch") == 6)
            let worker = try await queue.hire()
            for number in 1...6 {
                let batch = try #require(try await queue.claim(run, worker, number: Int32(number)))
                #expect(batch.terms.runRate == 7 && batch.terms.isPaced && batch.terms.lane == .campaign)
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                let states = try await queue.flush(batch, worker, jobs, as: nil, answered: Int32(number))
                #expect(states.allSatisfy { $0.isPaced })
            }
            _ = try await queue.client.query("UPDATE pushfleet.retry SET due_at = now() - interval '2 s'")
            #expect(try await queue.schedule.rebatch(shard: queue.shard, limit: 500) == 40)
            #expect(try await queue.count("SELECT max(size)::bigint FROM pushfleet.batch WHERE origin = 1") == 7)
        }
    }

    @Test func `a rate that is set holds for claims and for what is held, and is taken back`() async throws {
        try await QueueFixture.run(subscribers: 20) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            #expect(!batch.terms.isPaced)
            try await queue.admin.setRate(ofApp: "ferry", perSecond: 50)
            try await queue.admin.setRate(ofCredential: "firebase", app: "ferry", perSecond: 40, ramp: .zero)
            #expect(try await queue.admin.setRate(of: run, perSecond: 30))
            #expect(try await queue.flush(batch, worker, [], as: nil).map(\.isPaced) == [true])
            let terms = try #require(try await queue.claim(run, worker, number: 2)).terms
            #expect([terms.appRate, terms.routeRate, terms.runRate] == [50, 40, 30])
            try await queue.admin.setRate(ofApp: "ferry", perSecond: nil)
            try await queue.admin.setRate(ofCredential: "firebase", app: "ferry", perSecond: nil, ramp: nil)
            #expect(try await queue.admin.setRate(of: run, perSecond: nil))
            #expect(try await queue.flush(batch, worker, [], as: nil).map(\.isPaced) == [false])
        }
    }

    @Test func `old timetables are cleared away`() async throws {
        try await withPair(Rates(run: 10)) { queue, pair in
            _ = try await queue.batches.takeSlots(for: pair, wanted: 1, ahead: .milliseconds(250))
            _ = try await queue.client.query(
                "INSERT INTO pushfleet.rate_second (key, at_second, taken, granted) VALUES ('run:1', now() - interval '6 min', 1, 1)"
            )
            try await queue.housekeeping.forgetRates(olderThan: .seconds(300))
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.rate_second WHERE at_second < now() - interval '1 min'") == 0)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.rate_second") >= 1)
        }
    }
}

struct Unexpected: Error {}

/// The same numbers for the same seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// What an answer says of an address, as the store writes it down.
@Suite(.timeLimit(.minutes(2))) struct AddressEvidenceTests {
    /// Flushes one job of each subscriber, changed by `change`.
    private func flushed(
        _ outcome: Outcome?, _ body: (QueueFixture, [PushJob]) async throws -> Void,
        change: @escaping (inout Flush.Item, Instant) -> Void
    ) async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            let registered = try await queue.client.query(
                "SELECT registered_at FROM pushfleet.subscriber WHERE id = 1")[0].timestampMicroseconds(0)
            try await queue.flush(batch, worker, jobs, as: outcome) {
                change(&$0, Instant(microseconds: registered))
            }
            try await body(queue, jobs)
        }
    }

    /// All subscribers registered at the same instant.
    @Test(
        arguments: [(.microseconds(1), true), (.zero, false), (.microseconds(-1), false), (nil, true)]
            as [(Duration?, Bool)])
    func `an address is retired only if it did not register since the provider saw it gone`(
        after: Duration?, retires: Bool
    ) async throws {
        try await flushed(.unregistered) { queue, _ in
            let retired = try await queue.count(
                "SELECT count(*) FROM pushfleet.subscriber WHERE state = 3 AND evidence = 301")
            #expect(retired == (retires ? 10 : 0))
        } change: { item, registered in
            item.reason = .apnsUnregistered
            item.goneSince = after.map { registered + $0 }
        }
    }

    @Test(
        arguments: [
            (.apnsBadDeviceToken, 2), (.apnsDeviceTokenNotForTopic, 4), (.apnsBadEnvironmentKeyID, 4),
            (.apnsPayloadTooLarge, 1),
        ] as [(Reason, Int16)])
    func `a refusal sets the address aside only where it concerns it`(reason: Reason, state: Int16) async throws {
        try await flushed(.failed) { queue, _ in
            let moved = try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = \(state)")
            #expect(moved == 10)
        } change: { item, _ in
            item.reason = reason
        }
    }

    @Test func `an environment that proved right is kept, unless the address changed meanwhile`() async throws {
        try await flushed(.delivered) { queue, _ in
            let corrected = try await queue.count(
                "SELECT count(*) FROM pushfleet.subscriber WHERE environment = 2 AND state = 1")
            #expect(corrected == 9)
            #expect(try await queue.count("SELECT environment::bigint FROM pushfleet.subscriber WHERE id = 3") == 0)
        } change: { item, _ in
            item.environment = .sandbox
            if item.subscriber.rawValue == 3 { item.addressVersion = 7 }
        }
    }
}

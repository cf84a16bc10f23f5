import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

/// What an answer says of an address, as the store writes it down.
@Suite(.timeLimit(.minutes(2))) struct AddressEvidenceTests {
    @Test(
        arguments: [
            (.apnsBadDeviceToken, true), (.webpushRedirected, true), (.fcmAPNsRejected, true),
            (.apnsPayloadTooLarge, false), (.payloadTooLarge, false),
        ] as [(Reason, Bool)])
    func `a refusal makes an address suspect only where it concerns it`(reason: Reason, isAbout: Bool) {
        #expect(reason.isAboutAddress == isAbout)
    }

    @Test func `an environment that proved right is kept, unless the address changed meanwhile`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs, as: .delivered) { item in
                item.environment = .sandbox
                if item.subscriber.rawValue == 3 { item.addressVersion = 7 }
            }
            let corrected = try await queue.count(
                "SELECT count(*) FROM pushfleet.subscriber WHERE environment = 2 AND state = 1")
            #expect(corrected == 9)
            #expect(try await queue.count("SELECT environment::bigint FROM pushfleet.subscriber WHERE id = 3") == 0)
        }
    }
}

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
            let proven = (1...10).map { id in
                ProvenEnvironment(
                    subscriber: Subscriber.ID(id), addressVersion: id == 3 ? 7 : 1, environment: .sandbox)
            }
            for _ in 0..<2 { try await queue.batches.correctEnvironments(proven, in: queue.shard) }
            let corrected = try await queue.count(
                "SELECT count(*) FROM pushfleet.subscriber WHERE environment = 2 AND state = 1")
            #expect(corrected == 9)
            #expect(try await queue.count("SELECT environment::bigint FROM pushfleet.subscriber WHERE id = 3") == 0)
        }
    }
}

import Domain
import Testing

@testable import Delivery

@Suite struct HeldBatchTests {
    private final class Deaf: Transport {
        struct Nothing: PreparedMessage {}
        let capacity = 10
        func prepare(_ content: ContentVersion) throws -> any PreparedMessage { Nothing() }
        func send(
            _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
            to sink: @escaping ResultSink
        ) {}
        func close(by deadline: ContinuousClock.Instant) async {}
    }

    private func batch(of size: Int, lapses: Int16, window: Int, runRate: Int? = nil) -> HeldBatch {
        var claimed = ClaimedBatch(
            shard: Shard(rawValue: 0), id: Batch.ID(1), run: Run.ID(1), route: Route.ID(1), bucket: 1, epoch: 1,
            size: size, announced: min(size, window),
            marked: OrdinalSet(bytes: [UInt8](repeating: 0, count: (size + 7) / 8), count: size), lapses: lapses,
            contentVersion: ContentVersion.ID(1), expiresAt: Instant(microseconds: 0), policy: .retry,
            announceWindow: window)
        claimed.terms.runRate = runRate
        let credential = CredentialReference(
            id: Credential.ID(1), app: App.ID(1), name: "c", transport: .fcm, file: "/c", endpoint: nil)
        let route = Route(
            id: Route.ID(1), app: App.ID(1), transport: .fcm, service: 0, state: .open, credential: credential)
        let jobs = (0..<size).map { index in
            PushJob(
                ordinal: Int16(index), number: Int64(index), subscriber: Subscriber.ID(Int64(index)), attempts: 0,
                contentVersion: nil, expiresAt: nil, recipient: nil)
        }
        return HeldBatch(
            number: 1, claimed: claimed, jobs: jobs, route: route, otherRoutes: [:], transport: Deaf(),
            messages: BatchMessages(standard: ContentVersion.ID(1), entries: [:]), now: .now)
    }

    @Test func `a suspect batch begins one job, and announces the next when that one is answered`() throws {
        let suspect = batch(of: 5, lapses: 2, window: 1)
        for ordinal in 0..<5 {
            let job = try #require(suspect.take())
            #expect(Int(job.ordinal) == ordinal && suspect.take() == nil)
            suspect.noteBegun(job)
            #expect(suspect.wantedAnnouncement == ordinal + 1)
            suspect.noteAnswered()
            #expect(suspect.wantedAnnouncement == min(5, ordinal + 2))
            suspect.noteAnnounced(suspect.wantedAnnouncement)
        }
        #expect(suspect.waiting == 0)
    }

    @Test func `what may be begun is what is announced or came back`() throws {
        let held = batch(of: 6, lapses: 0, window: 4, runRate: 5)
        #expect(held.isPaced && held.beginnable == 4 && held.waiting == 6)
        let job = try #require(held.take())
        held.noteBegun(job)
        #expect(held.beginnable == 3)
        held.noteReturned(job)
        #expect(held.beginnable == 4 && held.waiting == 6)
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct AdminTests {
    private func file(key: String = #""k1""#, title: String = "Hi", extra: String = "") -> String {
        """
        {"app": "ferry", "name": "Winter", "idempotencyKey": \(key),
         "message": {"content": {"en": {"title": "\(title)", "body": "x"}, "_default": "en"}},
         "delivery": {"ttlSeconds": 3600, "inDoubt": "assume_sent", "collapseKey": "c"},
         "audience": {"all": true}, "schedule": {"at": "now"}, "queue": {"weight": 3}\(extra)}
        """
    }

    private func create(_ queue: QueueFixture, _ body: String) async throws -> CreatedCampaign {
        let campaign = try CampaignFile.parse(Array(body.utf8), mode: .strict)
        return try await queue.admin.createCampaign(campaign, body: body)
    }

    @Test func `the same key and file give the same campaign, another file is refused`() async throws {
        try await QueueFixture.run { queue in
            let first = try await create(queue, file())
            let again = try await create(queue, file())
            #expect(first.isNew && !again.isNew)
            #expect(again.campaign == first.campaign && again.run == first.run)
            await #expect(throws: AdminError.self) { try await create(queue, file(title: "Other")) }
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.run") == 1)
        }
    }

    @Test func `a campaign's run is expanded, claimed and read with its content`() async throws {
        try await QueueFixture.run { queue in
            let created = try await create(queue, file())
            let run = Run.ID(created.run)
            #expect(try await queue.schedule.unexpandedRuns(of: queue.shard) == [run])
            try await queue.expand(run)
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            #expect(batch.policy == .assumeSent && batch.announceWindow == 100)
            let content = try await queue.batches.contentVersion(batch.contentVersion)
            #expect(content.delivery == DeliveryOptions(ttlSeconds: 3600, collapseKey: "c", inDoubt: .assumeSent))
            #expect(content.message.variants.map(\.language) == ["en"])
            #expect(try await queue.admin.runs(app: "ferry", limit: 5).map(\.name) == ["Winter"])
        }
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct HintTests {
    @Test func `whoever creates a campaign wakes the scheduler that waits`() async throws {
        try await QueueFixture.run { queue in
            let hints = HintListener(.init(queue.database.directURL), logger: TemporaryDatabase.logger)
            // The first wait returns at once: what was said before it listened is not heard.
            await hints.wait(atMost: .seconds(30))
            let began = ContinuousClock.now
            async let woken: Void = hints.wait(atMost: .seconds(50))
            let body = """
                {"app": "ferry", "name": "Winter", "idempotencyKey": "k",
                 "message": {"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}},
                 "audience": {"all": true}, "schedule": {"at": "now"}}
                """
            let campaign = try CampaignFile.parse(Array(body.utf8), mode: .strict)
            _ = try await queue.admin.createCampaign(campaign, body: body)
            await woken
            #expect(ContinuousClock.now - began < .seconds(20))
            await hints.close()
        }
    }

    @Test func `without a database a wait lasts its time and no longer`() async throws {
        let hints = HintListener(.init("postgresql://ann@127.0.0.1:1/push"), logger: TemporaryDatabase.logger)
        let began = ContinuousClock.now
        await hints.wait(atMost: .milliseconds(300))
        let waited = ContinuousClock.now - began
        #expect(waited >= .milliseconds(300) && waited < .seconds(5))
        await hints.close()
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ContentStoreTests {
    private func file(_ message: String, audience: String = #"{"all":true}"#, delivery: String = "{}") throws -> (
        CampaignFile, String
    ) {
        let body = #"""
            {"app":"ferry","name":"Test","message":\#(message),"audience":\#(audience),"delivery":\#(delivery)}
            """#
        return (try CampaignFile.parse(Array(body.utf8), mode: .strict), body)
    }

    private let hello = #"{"content":{"en":{"title":"T","body":"B"},"_default":"en"}}"#

    /// The campaign's content as a worker gets it.
    private func content(_ queue: QueueFixture, of campaign: Int64) async throws -> ContentVersion {
        let row = try await queue.client.query(
            "SELECT id FROM pushfleet.content_version WHERE campaign_id = \(campaign)")[0]
        return try await queue.batches.contentVersion(.init(row.int64(0)))
    }

    @Test func `browsers are skipped by a silent run and counted, the others are not`() async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET transport = 3 WHERE id <= 10")
            let (campaign, body) = try file(#"{"silent":true,"data":{"op":"x"}}"#)
            let run = Run.ID(try await queue.admin.createCampaign(campaign, body: body).run)
            try await queue.expand(run)
            let accounting = try await queue.accounting(run)
            #expect(accounting.targeted == 30 && accounting.skipped == 10 && accounting.pending == 20)
            let reasons = try await queue.client.query(
                """
                SELECT reason.name, count(*)
                FROM pushfleet.delivery
                JOIN pushfleet.reason ON reason.code = delivery.reason
                GROUP BY 1
                """)
            #expect(reasons.map { $0.string(0) } == ["web_silent"] && reasons[0].int64(1) == 10)
        }
    }

    @Test(arguments: [
        (#"{"topic":"news"}"#, "/topics/news"), (#"{"condition":"'a' in topics"}"#, "condition:'a' in topics"),
    ])
    func `a topic or condition is one job of an ordinary run`(audience: String, address: String) async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            // The fixture numbers its subscribers itself.
            _ = try await queue.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            let (campaign, body) = try file(hello, audience: audience)
            let run = Run.ID(try await queue.admin.createCampaign(campaign, body: body).run)
            try await queue.expand(run)
            #expect(try await queue.accounting(run).targeted == 1)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            #expect(jobs.map { $0.recipient?.address.text } == [address])
            try await queue.flush(batch, worker, jobs, as: .delivered)
            #expect(try await queue.accounting(run).delivered == 1)
            // Nobody else's campaign reaches it.
            let (other, otherBody) = try file(hello)
            let everybody = Run.ID(try await queue.admin.createCampaign(other, body: otherBody).run)
            try await queue.expand(everybody)
            #expect(try await queue.accounting(everybody).targeted == 30)
        }
    }

    @Test(arguments: ["/topics/all", "condition:'a' in topics"])
    func `no subscriber can register as a topic`(address: String) async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let error = await #expect(throws: PostgresError.self) {
                try await queue.client.query("UPDATE pushfleet.subscriber SET address = \(address)")
            }
            #expect(error?.code == .checkViolation)
        }
    }

    @Test func `a campaign keeps the version of the template that it was created with`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let first = try await queue.admin.saveTemplate(app: "ferry", name: "welcome", json: hello)
            #expect(first.version == 1)
            let again = try await queue.admin.saveTemplate(app: "ferry", name: "welcome", json: hello)
            #expect(again.version == 1 && again.id == first.id)
            let (campaign, body) = try file(#"{"template":"welcome"}"#)
            let created = try await queue.admin.createCampaign(campaign, body: body)
            let second = try await queue.admin.saveTemplate(
                app: "ferry", name: "welcome", json: hello.replacing("\"T\"", with: "\"Other\""))
            #expect(second.version == 2)
            let kept = try await content(queue, of: created.campaign)
            #expect(kept.message.variants[0].title.segments == [.literal("T")])
            #expect(
                try await queue.count("SELECT count(*) FROM pushfleet.content_version WHERE template_id = \(first.id)")
                    == 1)
            #expect(try await queue.admin.templates(app: "ferry").map(\.version) == [2, 1])
            await #expect(throws: PostgresError.self) {
                try await queue.client.query("UPDATE pushfleet.template SET message = '{}'")
            }
        }
    }

    @Test func `a template that is not there is named with its place`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let (campaign, body) = try file(#"{"template":"nowhere"}"#)
            let error = await #expect(throws: ContentProblems.self) {
                try await queue.admin.createCampaign(campaign, body: body)
            }
            #expect(error?.problems.map { "\($0.code) \($0.pointer)" } == ["template_unknown /message/template"])
        }
    }

    @Test func `a content version freezes the app's channel and kind of message`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let channel = AndroidChannel(
                id: "boarding", name: "Boarding calls", importance: .high, description: "Gates", vibration: true)
            try await queue.admin.defineChannel(app: "ferry", channel)
            try await queue.admin.setFCMMode(app: "ferry", .notification)
            let message = hello.replacing("{\"content\"", with: #"{"presentation":{"channelId":"boarding"},"content""#)
            let (campaign, body) = try file(message)
            let created = try await queue.admin.createCampaign(campaign, body: body)
            let (own, ownBody) = try file(message, delivery: #"{"fcmMode":"data","analyticsLabel":"w"}"#)
            let other = try await queue.admin.createCampaign(own, body: ownBody)
            _ = try await queue.admin.removeChannel(app: "ferry", id: "boarding")
            try await queue.admin.setFCMMode(app: "ferry", .data)
            let kept = try await content(queue, of: created.campaign)
            #expect(kept.channel == channel && kept.delivery.fcmMode == .notification)
            let asked = try await content(queue, of: other.campaign)
            #expect(asked.delivery.fcmMode == .data && asked.delivery.analyticsLabel == "w")
        }
    }

    @Test func `the longest value of each attribute is found among active subscribers, as JSON writes it`() async throws
    {
        try await QueueFixture.run(subscribers: 4) { queue in
            for (id, attributes) in [
                (1, #"{"name":"abcdef","n":1234567}"#), (2, #"{"name":"\"\"\"\"","n":true}"#),
                (3, #"{"name":{"a":"long object"}}"#),
                (4, #"{"name":"the longest of all but retired"}"#),
            ] as [(Int64, String)] {
                _ = try await queue.client.query(
                    "UPDATE pushfleet.subscriber SET attributes = \(PostgresJSON(attributes)) WHERE id = \(id)")
            }
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET state = 3 WHERE id = 4")
            let found = try await queue.admin.largestValues(app: "ferry", attributes: ["n", "name", "none"])
            #expect(found == ["n": "1234567", "name": "\"\"\"\""])
            let some = try await queue.admin.largestValues(
                app: "ferry", audience: .not(.externalID(["u2"])), attributes: ["n", "name"])
            #expect(some == ["n": "1234567", "name": "abcdef"])
            let known = try #require(
                try await queue.admin.subscriberForPreview(app: "ferry", id: 2, attributes: ["n", "name", "none"]))
            #expect(known.attributes == ["n": "true", "name": "\"\"\"\""] && known.address.text == "token-2")
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.subscriber SET transport = 3, service = 4, p256dh = 'p', auth = 'a', vapid_credential = 7
                WHERE id = 2
                """)
            let browser = try #require(
                try await queue.admin.subscriberForPreview(app: "ferry", id: 2, attributes: []))
            #expect(browser.transport == .webpush && browser.service == 4)
            #expect(browser.address.vapidKey == .init(7) && browser.address.auth == "a")
            #expect(try await queue.admin.subscriberForPreview(app: "ferry", id: 99, attributes: []).map(\.id) == nil)
        }
    }

    /// Queues one notification and collects it.
    private func notify(_ queue: QueueFixture, _ message: String, to subscriber: Int, number: Int32) async throws
        -> [CollectedBatch]
    {
        _ = try await queue.client.query(
            """
            SELECT pushfleet.notify('ferry', jsonb_build_object('subscriber', \(Int64(subscriber))), \(PostgresJSON(message)))
            """)
        let worker = try await queue.hire()
        return try await queue.lane.collect(
            shard: queue.shard, worker: worker, claimNumber: number, limit: 100)
    }

    @Test func `a notification by template says what the template's newest version says`() async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            for (number, title) in ["First", "Second"].enumerated() {
                _ = try await queue.admin.saveTemplate(
                    app: "ferry", name: "welcome", json: hello.replacing("\"T\"", with: "\"\(title)\""))
                let collected = try await notify(
                    queue, #"{"template":"welcome"}"#, to: number + 1, number: Int32(number) + 1)
                let version = try #require(collected.first?.contentVersions.first)
                let content = try await queue.batches.contentVersion(version)
                #expect(content.message.variants[0].title.segments == [.literal(title)])
            }
            let error = await #expect(throws: PostgresError.self) {
                _ = try await notify(queue, #"{"template":"nowhere"}"#, to: 3, number: 9)
            }
            #expect(error?.sqlState == "PF400")
        }
    }

    @Test func `a silent notification to a browser is skipped and counted`() async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET transport = 3 WHERE id = 1")
            let none = try await notify(queue, #"{"silent":true,"data":{"a":"b"}}"#, to: 1, number: 1)
            #expect(none.isEmpty)
            let one = try await notify(queue, #"{"silent":true,"data":{"a":"b"}}"#, to: 2, number: 2)
            #expect(one.count == 1)
            #expect(
                try await queue.count("SELECT count(*) FROM pushfleet.delivery WHERE reason = 7 AND outcome = 6") == 1)
        }
    }
}

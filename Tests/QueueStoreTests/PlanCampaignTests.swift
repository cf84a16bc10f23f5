import Domain
import Foundation
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(5))) struct PlanCampaignTests {
    private func parse(_ body: String) throws -> CampaignFile {
        try CampaignFile.parse(Array(body.utf8), mode: .strict)
    }

    private func mix(_ queue: QueueFixture) async throws {
        _ = try await queue.client.query(
            """
            UPDATE pushfleet.subscriber
            SET state = CASE WHEN id % 10 = 0 THEN 3 ELSE 1 END,
                transport = CASE WHEN id % 10 = 1 THEN 3 ELSE 2 END,
                language = CASE WHEN id % 2 = 0 THEN 'pt_BR' ELSE 'fr' END,
                time_zone = (ARRAY['Europe/Lisbon', 'America/New_York', 'Asia/Tokyo'])[id % 3 + 1]
            """)
        _ = try await queue.client.query("UPDATE pushfleet.route SET rate = 100")
    }

    private let message =
        #""message": {"content": {"en": {"title": "Hi", "body": "x"}, "pt": {"title": "Olá", "body": "x"}, "_default": "en"}}"#

    @Test func `what is planned is what happens, and planning writes nothing`() async throws {
        try await QueueFixture.run(subscribers: 60) { queue in
            try await mix(queue)
            let body = queue.campaign(
                audience: #"{"not": {"externalId": ["u2", "u10"]}}"#,
                schedule: #"{"local": "2031-07-01T09:00", "audienceAt": "schedule"}"#, message: message,
                #""throttle": {"perSecond": 2}"#)
            let plan = try await queue.admin.plan(try parse(body), exact: true)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.run") == 0)
            let run = Run.ID(try await queue.create(body).run)
            try await queue.expand(run)
            let accounting = try await queue.accounting(run)
            #expect(plan.exact && plan.targeted == accounting.targeted && accounting.targeted == 58)
            #expect(plan.sent == accounting.pending)
            #expect(plan.skipped.reduce(0) { $0 + $1.subscribers } == accounting.skipped)
            #expect(Set(plan.skipped.map(\.name)) == ["not_active", "no_route"])
            #expect(plan.languages.map(\.name).sorted() == ["en", "pt"])
            let waves = try await queue.texts(
                """
                SELECT to_char(b.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000000Z"') || ' ' || sum(b.size)
                FROM pushfleet.batch b
                WHERE b.state <> 2
                GROUP BY b.due_at
                ORDER BY b.due_at
                """)
            #expect(plan.waves.map { "\($0.at) \($0.subscribers)" } == waves)
            #expect(plan.firstAt == plan.waves.first?.at)
            let last = try #require(plan.waves.last)
            let end = try #require(plan.lastAt.flatMap(Instant.init(rfc3339:)))
            #expect(end - (try #require(Instant(rfc3339: last.at))) == .seconds(Double(last.subscribers) / 2))
            #expect(try await queue.admin.storedPlan(of: run) == plan)
        }
    }

    @Test func `a large table is sampled, near the truth`() async throws {
        try await QueueFixture.run(subscribers: 200_000) { queue in
            _ = try await queue.client.query(
                "UPDATE pushfleet.subscriber SET tags = ARRAY['third'] WHERE id % 3 = 0", deadline: .seconds(60))
            _ = try await queue.client.query("VACUUM ANALYZE pushfleet.subscriber", deadline: .seconds(60))
            let file = try parse(queue.campaign(audience: #"{"tag": ["third"]}"#))
            let plan = try await queue.admin.plan(file, exact: false)
            #expect(!plan.exact && plan.sampled < 66_666)
            #expect((50_000...85_000).contains(plan.targeted))
            #expect(try await queue.admin.plan(file, exact: true).targeted == 66_666)
        }
    }

    @Test func `a route's limit and the variants' shares show in the plan`() async throws {
        try await QueueFixture.run(subscribers: 900) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.route SET rate = 100")
            let file = try parse(queue.campaign(message: QueueFixture.variants(), #""holdout": 0.1"#))
            let plan = try await queue.admin.plan(file, exact: true)
            #expect(plan.variants.map(\.name).sorted() == ["a", "b"])
            #expect(plan.variants.reduce(0) { $0 + $1.subscribers } == plan.sent)
            #expect(plan.skipped.map(\.name) == ["holdout"])
            // Campaigns take nine tenths of a route's rate.
            #expect(plan.seconds == Int64((Double(plan.sent) / 90).rounded(.up)))
        }
    }

    @Test func `the same key and file race to one campaign, and another file is told both`() async throws {
        try await QueueFixture.run { queue in
            let body = queue.campaign(key: "k1")
            let ids = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<6 { group.addTask { try await queue.create(body).campaign } }
                return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            let failure = await #expect(throws: AdminError.self) {
                try await queue.create(queue.campaign(key: "k1", title: "Other"))
            }
            let text = failure?.description ?? ""
            let hashes = try await queue.texts("SELECT left(encode(body_hash, 'hex'), 12) FROM pushfleet.campaign")
            #expect(text.contains("campaign \(ids.first ?? 0) 'Winter'") && text.contains(hashes[0]))
            #expect(text.contains("this file 'Winter' (body "))
        }
    }

    @Test(
        arguments: [
            (#"{"at": "now"}"#, false), (#"{"at": "2001-01-01T00:00:00Z"}"#, true),
            (#"{"at": "2031-01-01T00:00:00Z"}"#, false), (#"{"at": "AN HOUR AGO"}"#, false),
            (#"{"local": "2001-01-01T09:00"}"#, false), (#"{"cron": "0 9 * * *", "zone": "UTC"}"#, false),
            (#"{"cron": "0 9 * * *", "zone": "UTC", "end": "2001-01-01T00:00:00Z"}"#, true),
        ] as [(String, Bool)])
    func `what is over already is planned so, and not created`(schedule: String, isOver: Bool) async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            let anHourAgo = Instant(microseconds: Int64(Date().timeIntervalSince1970 - 3_600) * 1_000_000).rfc3339
            let body = queue.campaign(schedule: schedule.replacing("AN HOUR AGO", with: anHourAgo))
            let plan = try await queue.admin.plan(try parse(body), exact: true)
            #expect(plan.isOver == (isOver ? true : nil))
            if isOver {
                let found = await #expect(throws: ContentProblems.self) { try await queue.create(body) }
                #expect(found?.problems.map { "\($0.code) \($0.pointer)" } == ["schedule_invalid /schedule"])
            } else {
                #expect(try await queue.create(body).isNew)
            }
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.campaign") == (isOver ? 0 : 1))
        }
    }

    @Test func `less than its life ago is not over, and at its end it is`() async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            let anHourAgo = Instant(microseconds: Int64(Date().timeIntervalSince1970 - 3_600) * 1_000_000).rfc3339
            for (seconds, isOver) in [(0, true), (3_500, true), (3_700, false)] {
                let body = queue.campaign(
                    schedule: #"{"at": "\#(anHourAgo)"}"#, #""delivery": {"ttlSeconds": \#(seconds)}"#)
                let plan = try await queue.admin.plan(try parse(body), exact: true)
                #expect(plan.isOver == (isOver ? true : nil))
            }
        }
    }

    @Test func `a dry run says what creating would, and leaves nothing`() async throws {
        try await QueueFixture.run { queue in
            let body = queue.campaign(key: "k1")
            func dryRun(_ body: String) async throws -> CreatedCampaign {
                try await queue.admin.createCampaign(try parse(body), body: body, dryRun: true)
            }
            #expect(try await dryRun(body).isNew)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.campaign") == 0)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.run WHERE NOT standing") == 0)
            let created = try await queue.create(body)
            let again = try await dryRun(body)
            #expect(!again.isNew && again.campaign == created.campaign)
            let other = queue.campaign(key: "k1", title: "Other")
            let failure = await #expect(throws: AdminError.self) { try await dryRun(other) }
            #expect(failure?.description.contains("'k1' already names campaign") == true)
        }
    }
}

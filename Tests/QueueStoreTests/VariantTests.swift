import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(5))) struct VariantTests {
    private func title(_ queue: QueueFixture, _ batch: ClaimedBatch) async throws -> String {
        let content = try await queue.batches.contentVersion(batch.contentVersion)
        guard case .literal(let text)? = content.message.variants.first?.title.segments.first else { return "" }
        return text
    }

    @Test func `variants and holdout get their shares, and what was assigned stays through retries`() async throws {
        try await QueueFixture.run(subscribers: 2000) { queue in
            let body = queue.campaign(message: QueueFixture.variants(), #""holdout": 0.2"#)
            let run = Run.ID(try await queue.create(body).run)
            try await queue.expand(run, pageSize: 300)
            let worker = try await queue.hire()
            var number: Int32 = 0
            var retried = 0
            while true {
                number += 1
                guard let batch = try await queue.claim(run, worker, number: number) else { break }
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                let said = try await title(queue, batch)
                let variant = try await queue.count(
                    "SELECT variant::bigint FROM pushfleet.batch WHERE id = \(batch.id.rawValue)")
                #expect(said == (variant == 1 ? "a" : "b"))
                // The first job of each batch is tried again, the rest of b fails.
                try await queue.flush(batch, worker, jobs.prefix(1), as: nil, answered: number) { $0.free = true }
                retried += 1
                try await queue.flush(
                    batch, worker, jobs.dropFirst(), as: variant == 1 ? .delivered : .failed, answered: number)
            }
            _ = try await queue.client.query("UPDATE pushfleet.retry SET due_at = now() - interval '2 s'")
            #expect(try await queue.schedule.rebatch(shard: queue.shard, limit: 500) == retried)
            try await queue.drain(run)
            // By hand, as any language would.
            let expected = try await queue.texts(
                """
                WITH place AS (
                    SELECT id, ('x' || left(md5((SELECT min(id) FROM pushfleet.campaign) || ':s:' || id), 13))::bit(52)::bigint
                        / (2::float8 ^ 52) AS at
                    FROM pushfleet.subscriber
                )
                SELECT id || ' ' || CASE WHEN at < 0.2 THEN 0 WHEN at < 0.6 THEN 1 ELSE 2 END FROM place ORDER BY id
                """)
            let found = try await queue.texts(
                "SELECT number || ' ' || coalesce(variant, 0) FROM pushfleet.delivery ORDER BY number")
            #expect(found == expected)
            let results = try await queue.admin.variants(of: run)
            #expect(results.map(\.name) == ["a", "b", "(holdout)"])
            #expect(results.allSatisfy { (300...950).contains($0.targeted) })
            #expect(results[0].deliveredShare?.share == 1)
            let share = try #require(results[1].deliveredShare)
            #expect(share.low < share.share && share.share < share.high && share.share < 0.2)
            #expect(try await queue.accounting(run).skipped == results[2].targeted)
        }
    }

    @Test func `all devices of a user get the same variant, in every run of a campaign`() async throws {
        try await QueueFixture.run(subscribers: 300) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET user_id = 'user' || id % 100")
            let run = Run.ID(try await queue.create(queue.campaign(message: QueueFixture.variants())).run)
            try await queue.expand(run)
            #expect(
                try await queue.count(
                    """
                    SELECT count(*)
                    FROM (
                        SELECT s.user_id
                        FROM pushfleet.job j
                        JOIN pushfleet.batch b ON b.id = j.batch_id
                        JOIN pushfleet.subscriber s ON s.id = j.subscriber_id
                        GROUP BY s.user_id
                        HAVING count(DISTINCT b.variant) = 1 AND count(*) = 3
                    ) same
                    """) == 100)
        }
    }

    @Test func `an edit is bound to batches at their first claim, and reported by revision`() async throws {
        try await QueueFixture.run(subscribers: 40) { queue in
            let created = try await queue.create(queue.campaign(message: QueueFixture.variants()))
            let run = Run.ID(created.run)
            let campaign = Campaign.ID(created.campaign)
            _ = try await queue.client.query("UPDATE pushfleet.run SET batch_size = 5")
            try await queue.expand(run)
            let worker = try await queue.hire()
            let first = try #require(try await queue.claim(run, worker))
            let changed = queue.campaign(message: QueueFixture.variants("new a", "new b"))
            let file = try CampaignFile.parse(Array(changed.utf8), mode: .strict)
            await #expect(throws: AdminError.self) { try await queue.admin.editCampaign(campaign, file, body: changed) }
            #expect(try await queue.control.pause(run))
            #expect(try await queue.admin.editCampaign(campaign, file, body: changed).revision == 2)
            #expect(try await queue.control.resume(run))
            // The batch that was claimed says what it said, also to its next holder.
            try await queue.batches.handBack(first, begun: 0, notBefore: nil, worker: worker)
            try await queue.schedule.refreshHeads(of: queue.shard, lane: .campaign)
            var titles: [Int64: String] = [:]
            var number: Int32 = 1
            while true {
                number += 1
                guard let batch = try await queue.claim(run, worker, number: number) else { break }
                titles[batch.id.rawValue] = try await title(queue, batch)
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                try await queue.flush(batch, worker, jobs, as: .delivered, answered: number)
            }
            #expect(["a", "b"].contains(titles.removeValue(forKey: first.id.rawValue)))
            #expect(titles.values.allSatisfy { $0.hasPrefix("new ") } && !titles.isEmpty)
            let revisions = try await queue.admin.revisions(of: run)
            #expect(revisions.filter { $0.revision == 1 }.reduce(0) { $0 + $1.jobs } == Int64(first.size))
            #expect(revisions.reduce(0) { $0 + $1.jobs } == 40)
            let late = queue.campaign(audience: #"{"tag": ["x"]}"#, message: QueueFixture.variants())
            _ = try await queue.control.pause(run)
            await #expect(throws: AdminError.self) {
                try await queue.admin.editCampaign(
                    campaign, try CampaignFile.parse(Array(late.utf8), mode: .strict), body: late)
            }
        }
    }

    @Test func `a campaign that is over is not edited`() async throws {
        try await QueueFixture.run(subscribers: 2) { queue in
            let created = try await queue.create(queue.campaign())
            #expect(try await queue.control.cancel(Run.ID(created.run)) != nil)
            let changed = queue.campaign(title: "New")
            let file = try CampaignFile.parse(Array(changed.utf8), mode: .strict)
            let failure = await #expect(throws: AdminError.self) {
                try await queue.admin.editCampaign(Campaign.ID(created.campaign), file, body: changed)
            }
            #expect(failure?.description.contains("is over") == true)
        }
    }

    @Test func `before it begins a campaign can change its audience and instant`() async throws {
        try await QueueFixture.run(subscribers: 20) { queue in
            let created = try await queue.create(queue.campaign(schedule: #"{"at": "2031-01-01T00:00:00Z"}"#))
            let changed = queue.campaign(title: "New", audience: #"{"externalId": ["u3"]}"#)
            let edited = try await queue.admin.editCampaign(
                Campaign.ID(created.campaign), try CampaignFile.parse(Array(changed.utf8), mode: .strict), body: changed
            )
            #expect(edited.runs == [created.run])
            let run = Run.ID(created.run)
            #expect(try await queue.schedule.unexpandedRuns(of: queue.shard) == [run])
            try await queue.expand(run)
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            #expect(try await title(queue, batch) == "New")
            #expect(batch.size == 1)
        }
    }

    @Test(arguments: [#""inDoubt": "assume_sent""#, #""ttlSeconds": 60"#, #""perUser": "newest""#])
    func `how its jobs are delivered can change before they are there, and not after`(delivery: String) async throws {
        try await QueueFixture.run(subscribers: 20) { queue in
            let created = try await queue.create(queue.campaign(schedule: #"{"at": "2031-01-01T00:00:00Z"}"#))
            let (campaign, run) = (Campaign.ID(created.campaign), Run.ID(created.run))
            func edit(_ delivery: String) async throws {
                let body = queue.campaign(#""delivery": {\#(delivery)}"#)
                _ = try await queue.admin.editCampaign(
                    campaign, try CampaignFile.parse(Array(body.utf8), mode: .strict), body: body)
            }
            try await edit(delivery)
            let changed = try await queue.client.query(
                """
                SELECT in_doubt = 1 AND announce_window = 100, ttl = interval '1 min', one_per_user FROM pushfleet.run
                """)[0]
            #expect((0...2).filter { changed.bool($0) }.count == 1)
            try await queue.expand(run)
            #expect(try await queue.control.pause(run))
            try await edit(delivery)
            await #expect(throws: AdminError.self) { try await edit("") }
        }
    }

    @Test func `a test goes to those named, and no list shows it unless asked`() async throws {
        try await QueueFixture.run(subscribers: 20) { queue in
            let body = queue.campaign(
                key: "k", schedule: #"{"at": "2031-01-01T00:00:00Z"}"#, message: QueueFixture.variants(),
                #""holdout": 0.9"#)
            let file = try CampaignFile.parse(Array(body.utf8), mode: .strict)
            let created = try await queue.admin.testCampaign(file, body: body, subscribers: ["u3", "u7"], variant: "b")
            let run = Run.ID(created.run)
            try await queue.expand(run)
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            #expect(try await title(queue, batch) == "b")
            #expect(try await queue.texts("SELECT number::text FROM pushfleet.job ORDER BY number") == ["3", "7"])
            #expect(try await queue.admin.runs(app: nil, limit: 9).isEmpty)
            #expect(try await queue.admin.runs(app: nil, limit: 9, tests: true).map(\.isTest) == [true])
            await #expect(throws: AdminError.self) {
                try await queue.admin.testCampaign(file, body: body, subscribers: ["nobody"], variant: nil)
            }
            await #expect(throws: AdminError.self) {
                try await queue.admin.testCampaign(file, body: body, subscribers: ["u3"], variant: "c")
            }
        }
    }
}

import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(10))) struct FrequencyCapTests {
    private func cap(_ queue: QueueFixture, _ text: String) async throws {
        var change = LimitChange()
        change.frequencyCap = .value(try #require(FrequencyCap(text)))
        _ = try await queue.admin.setLimits(ofApp: "ferry", change)
    }

    /// Claims a batch of the run and sends what is not held back: how many were sent; nil = nothing to claim.
    private func send(
        _ run: Run.ID, _ queue: QueueFixture, _ worker: WorkerID, number: Int32
    ) async throws -> Int? {
        guard let batch = try await queue.claim(run, worker, number: number) else { return nil }
        let withheld = try await queue.batches.reserve(batch, worker: worker)
        let jobs = try await queue.batches.jobs(of: batch, attributes: [])
        try await queue.flush(batch, worker, jobs, as: .delivered, answered: number) { item in
            guard let one = withheld[item.ordinal] else { return }
            (item.outcome, item.reason, item.attempts) = (.skipped, one.reason, 0)
        }
        return jobs.count - withheld.count
    }

    private func sendAll(_ run: Run.ID, _ queue: QueueFixture) async throws -> Int {
        let worker = try await queue.hire()
        var sent = 0
        var number: Int32 = 0
        while true {
            number += 1
            guard let more = try await send(run, queue, worker, number: number) else { return sent }
            sent += more
        }
    }

    @Test func `two campaigns that race for ten thousand users under a cap of one reach each once`() async throws {
        try await QueueFixture.run(subscribers: 10_000) { queue in
            try await cap(queue, "1/24h")
            let runs = [
                try await queue.makeExpandedRun(batchSize: 100), try await queue.makeExpandedRun(batchSize: 100),
            ]
            try await withThrowingTaskGroup(of: Void.self) { workers in
                for index in 0..<16 {
                    workers.addTask {
                        let worker = try await queue.hire()
                        var number: Int32 = 0
                        var left = [runs[index % 2], runs[(index + 1) % 2]]
                        while let run = left.first {
                            number += 1
                            if try await send(run, queue, worker, number: number) == nil {
                                left.removeFirst()
                            } else {
                                left.reverse()
                            }
                        }
                    }
                }
                try await workers.waitForAll()
            }
            let reached = try await queue.client.query(
                """
                SELECT count(*) FILTER (WHERE n = 1), count(*) FILTER (WHERE n > 1), sum(skipped)::bigint
                FROM (
                    SELECT count(*) FILTER (WHERE d.outcome = 1) AS n, count(*) FILTER (WHERE d.reason = 43) AS skipped
                    FROM pushfleet.delivery d
                    GROUP BY d.subscriber_id
                ) per_user
                """)[0]
            #expect(reached.int64(0) == 10_000 && reached.int64(1) == 0 && reached.int64(2) == 10_000)
        }
    }

    @Test func `a rescued batch finds what was reserved for it, and takes no more`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            try await cap(queue, "1/24h")
            let run = try await queue.makeExpandedRun()
            let first = try await queue.hire()
            let batch = try #require(try await queue.claim(run, first))
            #expect(try await queue.batches.reserve(batch, worker: first).isEmpty)
            // A repeat because the reply was lost.
            #expect(try await queue.batches.reserve(batch, worker: first).isEmpty)
            try await queue.bury(first)
            // Its reservation is lost to the grave's owner.
            #expect(try await queue.batches.reserve(batch, worker: first).isEmpty)
            #expect(try await sendAll(run, queue) == 10)
            #expect(
                try await queue.count("SELECT max(cardinality(hits))::bigint FROM pushfleet.frequency") == 1)
            // Nothing is given back, and nobody has room.
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 0)
        }
    }

    @Test func `a user's devices share one cap, and one run counts once for all of them`() async throws {
        try await QueueFixture.run(subscribers: 12) { queue in
            _ = try await queue.client.query(
                "UPDATE pushfleet.subscriber SET user_id = 'user-' || (id - 1) / 3 WHERE id <= 9")
            try await cap(queue, "2/7d")
            // Batches of two: a user's devices lie in several.
            for expected in [12, 12, 0, 0] {
                let run = try await queue.makeExpandedRun(batchSize: 2)
                #expect(try await sendAll(run, queue) == expected)
            }
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.frequency") == 6)
        }
    }

    @Test func `room comes back when the window has passed over what took it`() async throws {
        try await QueueFixture.run(subscribers: 5) { queue in
            try await cap(queue, "2/1h")
            func age(by span: String) async throws {
                _ = try await queue.client.query(
                    """
                    UPDATE pushfleet.frequency
                    SET hit_at = ARRAY(SELECT hit.at - \(span)::text::interval FROM unnest(hit_at) AS hit (at))
                    """)
            }
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 5)
            try await age(by: "50 min")
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 5)
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 0)
            try await age(by: "11 min")
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 5)
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 0)
            // What is over is pruned.
            #expect(try await queue.count("SELECT max(cardinality(hits))::bigint FROM pushfleet.frequency") == 2)
        }
    }

    @Test func `single notifications count each, in the order in which they were asked for`() async throws {
        try await QueueFixture.run(subscribers: 4) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET user_id = 'ann' WHERE id <= 2")
            try await cap(queue, "2/24h")
            let lane = queue.lane
            let worker = try await queue.hire()
            func notify(_ text: String, options: String = "{}") async throws {
                _ = try await queue.client.query(
                    """
                    SELECT pushfleet.notify(
                        'ferry', '{"user": "ann"}',
                        jsonb_build_object('content', jsonb_build_object(
                            'en', jsonb_build_object('title', \(text)::text, 'body', 'x'), '_default', 'en')),
                        \(PostgresJSON(options)))
                    """)
            }
            for text in ["1", "2", "3"] { try await notify(text) }
            let loud = #"{"bypass": {"rules": ["frequency_cap"], "reason": "sign-in code"}}"#
            for _ in 0..<2 { try await notify("4", options: loud) }
            let batch = try #require(
                try await lane.collect(shard: queue.shard, worker: worker, claimNumber: 1, limit: 100).first?.batch)
            #expect(batch.size == 10)
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            for _ in 0..<2 {
                let withheld = try await queue.batches.reserve(batch, worker: worker)
                // Both devices' third.
                #expect(withheld.keys.sorted() == jobs.map(\.ordinal).sorted()[4...5].map { $0 })
                #expect(withheld.values.allSatisfy { $0 == Withheld(reason: .frequencyCap, wait: nil) })
            }
            try await queue.flush(batch, worker, jobs, as: .delivered)
            // The bypass was kept, once for both.
            #expect(
                try await queue.texts(
                    """
                    SELECT name || ' ' || array_to_string(rules, ',') || ' ' || reason || ' ' || (caller = session_user)
                    FROM pushfleet_report.bypasses
                    """) == ["single notifications frequency_cap sign-in code true"])
            #expect(
                try await queue.texts(
                    """
                    SELECT DISTINCT (detail -> 'frequency_cap' ->> 'taken') || ' of ' || (detail -> 'frequency_cap' ->> 'most')
                    FROM pushfleet.explain('ferry', '{"user": "ann"}')
                    WHERE detail ? 'frequency_cap'
                    """) == ["2 of 2"])
        }
    }

    @Test func `a campaign past the cap takes no room, and says who let it through and why`() async throws {
        try await QueueFixture.run(subscribers: 6) { queue in
            try await cap(queue, "1/24h")
            #expect(try await sendAll(try await queue.makeExpandedRun(), queue) == 6)
            let loud = queue.campaign(
                #""delivery": {"bypass": {"rules": ["frequency_cap"], "reason": "storm warning"}}"#)
            let created = try await queue.create(loud)
            let run = Run.ID(created.run)
            try await queue.expand(run)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            // It costs nothing more than a run without a cap.
            #expect(!batch.terms.isLimited)
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs, as: .delivered)
            let owner = try await queue.members.owner.query("SELECT session_user::text")[0].string(0)
            #expect(
                try await queue.texts(
                    """
                    SELECT campaign_id || ' ' || array_to_string(rules, ',') || ' ' || reason || ' ' || caller
                    FROM pushfleet_report.bypasses
                    """) == ["\(created.campaign) frequency_cap storm warning \(owner)"])
            #expect(try await queue.count("SELECT max(cardinality(hits))::bigint FROM pushfleet.frequency") == 1)
        }
    }

    @Test(
        arguments: [
            (#""message": {"silent": true, "data": {"a": "b"}}"#, #"{"all": true}"#),
            (nil, #"{"topic": "news"}"#),
        ] as [(String?, String)])
    func `what shows nothing, or goes to a topic, is held to no cap`(message: String?, audience: String) async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            try await cap(queue, "1/24h")
            // The row that stands for a topic takes the next id.
            _ = try await queue.client.query("SELECT setval('pushfleet.subscriber_id_seq', 1000)")
            let run = Run.ID(try await queue.create(queue.campaign(audience: audience, message: message)).run)
            try await queue.expand(run)
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            #expect(!batch.terms.isLimited)
        }
    }

    @Test func `a plan says who has no room as far as anybody can know`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            try await cap(queue, "1/24h")
            _ = try await queue.client.query(
                """
                INSERT INTO pushfleet.frequency (app_id, user_key, hits, hit_at)
                SELECT 1, 's:' || id, '{99}', ARRAY[now() - CASE WHEN id <= 3 THEN interval '1 h' ELSE interval '25 h' END]
                FROM generate_series(1, 6) id
                """)
            let body = queue.campaign()
            let plan = try await queue.admin.plan(
                try CampaignFile.parse(Array(body.utf8), mode: .strict), exact: true)
            #expect(plan.skipped == [.init(name: "frequency_cap", subscribers: 3)] && plan.sent == 7)
            #expect(plan.policies == ["frequencyCap: 1/1d"])
        }
    }

    @Test func `a reservation looks its users up by key, whatever else there is`() async throws {
        try await QueueFixture.run(subscribers: 20_000) { queue in
            try await cap(queue, "2/24h")
            _ = try await queue.client.query(
                """
                INSERT INTO pushfleet.frequency (app_id, user_key, hits, hit_at)
                SELECT 1, 's:' || id, '{99}', ARRAY[now() - interval '1 h'] FROM generate_series(1, 20000) id
                """, deadline: .seconds(60))
            _ = try await queue.client.query("VACUUM ANALYZE pushfleet.frequency, pushfleet.subscriber")
            let run = try await queue.makeRun(batchSize: 500)
            try await queue.expand(run, pageSize: 20_000)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let plan = try await PlanNode(ReserveStatement(batch: batch, worker: worker).query, queue.client)
            let hot = ["subscriber", "frequency", "notification_sibling", "content_version"]
            #expect(plan.all.filter { $0.type == "Seq Scan" && hot.contains($0.relation) }.isEmpty)
            #expect(plan.pages < 500 * 40)
            #expect(
                try await queue.count("SELECT count(*) FROM pushfleet.frequency WHERE cardinality(hits) = 2") == 500)
        }
    }

    @Test func `users whose window is over are forgotten, page by page`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            try await cap(queue, "1/24h")
            _ = try await queue.client.query(
                """
                INSERT INTO pushfleet.frequency (app_id, user_key, hits, hit_at)
                SELECT 1, 'u:' || lpad(n::text, 3, '0'), '{1,2}',
                    ARRAY[now() - interval '30 h', now() - CASE WHEN n % 5 = 0 THEN interval '1 h' ELSE interval '25 h' END]
                FROM generate_series(1, 95) n
                """)
            var place: FrequencyPlace? = .start
            var pages = 0
            while let next = place {
                place = try await queue.housekeeping.forgetFrequencies(after: next, limit: 10)
                pages += 1
            }
            #expect(pages == 10)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.frequency") == 19)
        }
    }
}

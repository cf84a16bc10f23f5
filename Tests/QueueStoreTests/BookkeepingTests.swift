import Domain
import Postgres
import QueueStore
import TestSupport
import Testing
import Threading

@Suite struct BookkeepingTests {
    /// Makes what was written just now old enough to be counted.
    private static func age(_ fixture: QueueFixture) async throws {
        _ = try await fixture.client.query("UPDATE pushfleet.delivery SET at = at - interval '5 s'")
    }

    private static func foldAll(_ store: PostgresBookkeepingStore, _ fixture: QueueFixture) async throws -> Int64 {
        var counted: Int64 = 0
        let mark: PostgresQuery =
            "SELECT coalesce(extract(epoch FROM min(folded_until)), 0)::bigint FROM pushfleet.tally_mark"
        var last: Int64 = -1
        while true {
            counted += try await store.fold(shard: fixture.shard)
            let now = try await fixture.count(mark)
            if now == last { return counted }
            last = now
        }
    }

    @Test func `Each delivery is counted once, whoever folds and how often`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            let worker = try await fixture.hire()
            let run = try await fixture.makeExpandedRun()
            let first = try #require(try await fixture.claim(run, worker))
            try await fixture.flush(
                first, worker, try await fixture.batches.jobs(of: first, attributes: []), as: .delivered)
            try await Self.age(fixture)
            #expect(try await Self.foldAll(store, fixture) == 10)
            let second = try #require(try await fixture.claim(run, worker, number: 2))
            try await fixture.flush(
                second, worker, try await fixture.batches.jobs(of: second, attributes: []), as: .failed, answered: 2)
            _ = try await fixture.client.query("UPDATE pushfleet.tally_mark SET folded_until = now() - interval '2 s'")
            _ = try await fixture.client.query(
                "UPDATE pushfleet.delivery SET at = now() - interval '1500 ms' WHERE outcome = 2")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try await store.fold(shard: fixture.shard) } }
                try await group.waitForAll()
            }
            let rows = try await fixture.client.query(
                "SELECT outcome, sum(n)::bigint FROM pushfleet.tally GROUP BY outcome ORDER BY outcome")
            #expect(rows.map { $0.int64(1) } == [10, 10])
            let report = try await fixture.client.query(
                "SELECT outcome, sum(jobs)::bigint FROM pushfleet_report.outcomes GROUP BY outcome ORDER BY outcome")
            #expect(report.map { $0.string(0) } == ["delivered", "failed"])
        }
    }

    @Test func `A delivery counts for the language that its worker was asked for, else for the subscriber's`()
        async throws
    {
        try await QueueFixture.run { fixture in
            _ = try await fixture.client.query("UPDATE pushfleet.subscriber SET language = 'de'")
            let worker = try await fixture.hire()
            let run = try await fixture.makeExpandedRun()
            let batch = try #require(try await fixture.claim(run, worker))
            let jobs = try await fixture.batches.jobs(of: batch, attributes: [])
            try await fixture.flush(batch, worker, jobs.prefix(4), as: .delivered) { $0.asked = "pt-BR" }
            try await fixture.flush(batch, worker, jobs.dropFirst(4), as: .delivered)
            try await Self.age(fixture)
            #expect(try await Self.foldAll(fixture.books, fixture) == 10)
            let rows = try await fixture.client.query(
                "SELECT asked, sum(n)::bigint FROM pushfleet.tally GROUP BY asked ORDER BY asked")
            #expect(rows.map { $0.string(0) } == ["de", "pt-br"] && rows.map { $0.int64(1) } == [6, 4])
        }
    }

    @Test(
        arguments: [
            (nil, ""), ("", ""), ("en", "en"), ("pt-BR", "pt-br"), ("zh_Hant_TW", "zh-hant-tw"), ("es-419", "es-419"),
            ("x", "other"), ("english; drop table", "other"),
        ] as [(String?, String)])
    func `Languages are bounded for reports`(language: String?, label: String) async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            let found = try await fixture.client.query("SELECT pushfleet.language_label(\(language))")[0].string(0)
            #expect(found == label)
        }
    }

    @Test(arguments: [(0.2, 0), (1, 0), (2, 4), (4, 8), (1024, 40), (1e12, 127)] as [(Double, Int16)])
    func `Durations fall into classes of a quarter of a doubling`(milliseconds: Double, expected: Int16) async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            let found = try await fixture.client.query("SELECT pushfleet.latency_class(\(milliseconds))")[0].int16(0)
            #expect(found == expected)
        }
    }

    @Test func `What a long transaction takes back is of its own time, and counting waits for the commit`() async throws
    {
        try await QueueFixture.run { fixture in
            let id = try await fixture.count(
                """
                SELECT pushfleet.notify('ferry', '{"externalId": "u1"}',
                    '{"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}}')
                """)
            // Any transaction is a long one here.
            let settled: PostgresQuery = "SELECT now() <= pushfleet.settled_until('0 s')"
            try await fixture.client.withTransaction { caller in
                let began = try await caller.query("SELECT now()")[0].timestampMicroseconds(0)
                #expect(try await fixture.client.query(settled)[0].bool(0))
                #expect(try await caller.query("SELECT pushfleet.cancel_notification(\(id))")[0].int32(0) == 1)
                let bound = try await fixture.client.query("SELECT pushfleet.settled_until('0 s')")[0]
                #expect(bound.timestampMicroseconds(0) <= began)
                let at = try await caller.query("SELECT at FROM pushfleet.delivery")[0].timestampMicroseconds(0)
                #expect(at > began)
            }
            #expect(try await fixture.client.query(settled)[0].bool(0))
        }
    }

    @Test func `A closed run is audited once and its finding kept`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            let run = try await fixture.makeExpandedRun()
            _ = try await fixture.control.cancel(run)
            while try await fixture.housekeeping.settle(shard: fixture.shard) > 0 {}
            #expect(try await store.auditNext() == nil)
            #expect(try await fixture.housekeeping.closeRuns() == 1)
            let audit = try #require(try await store.auditNext())
            #expect(audit.run == run && audit.problems == 0)
            #expect(try await store.auditNext() == nil)
            #expect(try await fixture.count("SELECT audit_problems::bigint FROM pushfleet.run_total") == 0)
        }
    }

    @Test func `An old day is exported and dropped only when it is counted and its runs are audited`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            _ = try await fixture.members.owner.query(
                "SELECT pushfleet.ensure_day('delivery', current_date - 90)::text")
            let run = try await fixture.makeExpandedRun()
            _ = try await fixture.client.query(
                """
                UPDATE pushfleet.run SET created_at = now() - interval '91 days'
                """)
            _ = try await fixture.control.cancel(run)
            while try await fixture.housekeeping.settle(shard: fixture.shard) > 0 {}
            _ = try await fixture.client.query(
                "UPDATE pushfleet.delivery SET at = (current_date - 90)::timestamptz + interval '12 hours' WHERE subscriber_id <= 10"
            )
            #expect(try await store.expiredDays().isEmpty)
            _ = try await fixture.housekeeping.closeRuns()
            _ = try await store.auditNext()
            #expect(try await store.expiredDays().isEmpty)
            _ = try await fixture.client.query("INSERT INTO pushfleet.tally_mark VALUES (0, now() - interval '1 hour')")
            let day = try #require(try await store.expiredDays().first)
            let text = Locked<[UInt8]>([])
            try await store.export(day) { chunk in text.withLock { $0 += chunk } }
            #expect(text.withLock { $0 }.filter { $0 == 10 }.count == 11)
            try await store.drop(day)
            #expect(try await store.expiredDays().isEmpty)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.delivery") == 30)
            // Put back what the dropped day held, so that the run still adds up.
            _ = try await fixture.client.query("DELETE FROM pushfleet.run_total")
            _ = try await fixture.client.query("DELETE FROM pushfleet.delivery")
            _ = try await fixture.client.query("DELETE FROM pushfleet.batch")
            _ = try await fixture.client.query("DELETE FROM pushfleet.run_progress")
            _ = try await fixture.client.query("DELETE FROM pushfleet.run")
        }
    }

    @Test func `Batches of an old closed run go, its totals stay`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            let run = try await fixture.makeExpandedRun()
            _ = try await fixture.control.cancel(run)
            while try await fixture.housekeeping.settle(shard: fixture.shard) > 0 {}
            _ = try await fixture.housekeeping.closeRuns()
            _ = try await store.auditNext()
            #expect(try await store.forgetOld() == 0)
            _ = try await fixture.client.query("UPDATE pushfleet.run SET closed_at = now() - interval '30 days'")
            _ = try await fixture.client.query("INSERT INTO pushfleet.tally_mark VALUES (0, now() - interval '1 hour')")
            while try await store.forgetOld() > 0 {}
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.batch") == 0)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.run_progress") == 0)
            #expect(try await fixture.count("SELECT cancelled FROM pushfleet.run_total") == 40)
            _ = try await fixture.client.query("DELETE FROM pushfleet.delivery")
        }
    }

    @Test func `Explain tells what a subscriber was sent, what waits, and why not`() async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            let run = try await fixture.makeExpandedRun()
            let batch = try #require(try await fixture.claim(run, worker))
            let jobs = try await fixture.batches.jobs(of: batch, attributes: [])
            try await fixture.flush(batch, worker, jobs.prefix(1), as: .delivered)
            func explain(_ who: String, _ which: Int64? = nil) async throws -> [String] {
                try await fixture.client.query(
                    "SELECT what FROM pushfleet.explain('ferry', \(PostgresJSON(who)), \(which))"
                ).map { $0.string(0) }
            }
            #expect(try await explain(#"{"externalId": "u1"}"#) == ["subscriber is active", "delivered"])
            #expect(try await explain(#"{"externalId": "u2"}"#).contains("is with a worker"))
            #expect(try await explain(#"{"externalId": "u40"}"#).contains("waits for a worker"))
            #expect(try await explain(#"{"externalId": "nobody"}"#).first?.hasPrefix("no_subscriber") == true)
            _ = try await fixture.client.query(
                """
                INSERT INTO pushfleet.subscriber (shard, id, app_id, transport, address, external_id, registered_at)
                OVERRIDING SYSTEM VALUE
                VALUES (0, 1000, 1, 2, 'late', 'late', now() + interval '1 hour')
                """)
            let why = try await explain(#"{"externalId": "late"}"#, run.rawValue)
            #expect(why.contains { $0.hasPrefix("not targeted: it registered after") })
        }
    }
}

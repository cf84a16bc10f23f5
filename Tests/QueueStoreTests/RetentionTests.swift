import Domain
import Postgres
import QueueStore
import TestSupport
import Testing
import Threading

/// What is old goes, and nobody waits for it.
@Suite(.timeLimit(.minutes(1))) struct RetentionTests {
    private static func until(_ condition: () async throws -> Bool) async throws {
        let wakeup = Wakeup()
        while try await !condition() { await wakeup.wait(until: .now + .milliseconds(10)) }
    }

    private static let isThere: PostgresQuery =
        "SELECT count(*) FROM pg_class WHERE relname LIKE 'delivery_%' AND relkind = 'r' AND relname < 'delivery_2025'"

    @Test func `while a day goes, writers write and readers read, and who was reading it keeps it until the end`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            let worker = try await fixture.hire()
            let run = try await fixture.makeExpandedRun()
            let batch = try #require(try await fixture.claim(run, worker))
            let jobs = try await fixture.batches.jobs(of: batch, attributes: [])
            _ = try await fixture.members.owner.query(
                "SELECT pushfleet.ensure_day('delivery', date '2024-03-01')::text")
            let day = ExpiredDay(table: "delivery", partition: "delivery_20240301", isHalfDetached: false)
            let reader = PostgresConnection(
                PostgresConfiguration(fixture.database.directURL), logger: TemporaryDatabase.logger)
            try await reader.connect()
            _ = try await reader.query("BEGIN")
            _ = try await reader.query("SELECT count(*) FROM pushfleet.delivery")
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await store.drop(day) }
                try await Self.until {
                    try await fixture.count("SELECT count(*) FROM pg_inherits WHERE inhdetachpending") == 1
                }
                // The statements' own deadlines are the proof.
                try await fixture.flush(batch, worker, jobs, as: .delivered)
                let read = try await fixture.client.query(
                    "SELECT count(*) FROM pushfleet.delivery", deadline: .seconds(2))[0].int64(0)
                #expect(read == 10)
                #expect(try await fixture.count(Self.isThere) == 1)
                _ = try await reader.query("SELECT count(*) FROM pushfleet.delivery_20240301")
                _ = try await reader.query("COMMIT")
                try await group.waitForAll()
            }
            await reader.close()
            #expect(try await fixture.count(Self.isThere) == 0)
        }
    }

    @Test func `a day whose dropping was cut short is dropped by whoever comes next`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            _ = try await fixture.members.owner.query(
                "SELECT pushfleet.ensure_day('delivery', date '2024-03-01')::text")
            _ = try await fixture.client.query("INSERT INTO pushfleet.tally_mark VALUES (0, now())")
            let reader = PostgresConnection(
                PostgresConfiguration(fixture.database.directURL), logger: TemporaryDatabase.logger)
            let dropper = PostgresConnection(
                PostgresConfiguration(fixture.database.directURL), logger: TemporaryDatabase.logger)
            try await reader.connect()
            try await dropper.connect()
            _ = try await reader.query("BEGIN")
            _ = try await reader.query("SELECT count(*) FROM pushfleet.delivery")
            await #expect(throws: PostgresError.self) {
                try await dropper.query(
                    "ALTER TABLE pushfleet.delivery DETACH PARTITION pushfleet.delivery_20240301 CONCURRENTLY",
                    deadline: .milliseconds(500))
            }
            _ = try await reader.query("COMMIT")
            await reader.close()
            await dropper.close()
            let day = try #require(try await store.expiredDays().first)
            #expect(day.isHalfDetached)
            try await store.drop(day)
            #expect(try await store.expiredDays().isEmpty)
            #expect(try await fixture.count(Self.isThere) == 0)
        }
    }

    @Test func `a day that was detached and not dropped is dropped by whoever comes next`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            for what in ["delivery", "attempt"] {
                _ = try await fixture.members.owner.query(
                    "SELECT pushfleet.ensure_day(\(what), date '2024-03-01')::text")
            }
            _ = try await fixture.client.query("INSERT INTO pushfleet.tally_mark VALUES (0, now())")
            for what in ["delivery", "attempt"] {
                _ = try await fixture.members.owner.query(
                    "ALTER TABLE pushfleet.\(unescaped: what) DETACH PARTITION pushfleet.\(unescaped: what)_20240301")
            }
            let days = try await store.expiredDays()
            #expect(days.map(\.partition) == ["attempt_20240301", "delivery_20240301"])
            for day in days {
                #expect(day.isDetached && !day.isHalfDetached)
                try await store.drop(day)
            }
            #expect(try await store.expiredDays().isEmpty)
            #expect(try await fixture.count(Self.isThere) == 0)
        }
    }

    @Test func `a run that is open keeps its days, and so does one that nobody has audited`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            _ = try await fixture.members.owner.query(
                "SELECT pushfleet.ensure_day('delivery', date '2024-03-01')::text")
            _ = try await fixture.client.query("INSERT INTO pushfleet.tally_mark VALUES (0, now())")
            #expect(try await store.expiredDays().map(\.partition) == ["delivery_20240301"])
            let run = try await fixture.makeExpandedRun()
            _ = try await fixture.client.query("UPDATE pushfleet.run SET created_at = '2024-03-01 12:00Z'")
            _ = try await fixture.control.pause(run)
            #expect(try await store.expiredDays().isEmpty)
            _ = try await fixture.control.cancel(run)
            while try await fixture.housekeeping.settle(shard: fixture.shard) > 0 {}
            _ = try await fixture.housekeeping.closeRuns()
            #expect(try await store.expiredDays().isEmpty)
            _ = try await store.auditNext()
            #expect(try await store.expiredDays().map(\.partition) == ["delivery_20240301"])
        }
    }

    @Test func `counts of addresses are kept by the hour for a week and by the day after that, sums as tallies are`()
        async throws
    {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            _ = try await fixture.client.query(
                """
                INSERT INTO pushfleet.token_tally
                SELECT (date_trunc('day', now(), 'UTC') - day * interval '1 day') + hour * interval '1 hour', 1, 2, 1, date '2024-01-01', 7, 5
                FROM unnest(ARRAY[1, 9, 10, 500]) day CROSS JOIN unnest(ARRAY[0, 5, 23]) hour
                """)
            _ = try await fixture.client.query(
                """
                INSERT INTO pushfleet.tally_hour SELECT now() - g * interval '400 days', 1, 5, 2, 1 FROM generate_series(0, 3) g
                """)
            _ = try await fixture.client.query(
                "INSERT INTO pushfleet.tally_day SELECT current_date - g * 400, 1, 5, 2, 1 FROM generate_series(0, 3) g"
            )
            while try await store.forgetOld() > 0 {}
            #expect(
                try await fixture.client.query(
                    """
                    SELECT (current_date - (counted_at AT TIME ZONE 'UTC')::date)::int, count(*)
                    FROM pushfleet.token_tally GROUP BY 1 ORDER BY 1
                    """
                ).map { [Int64($0.int32(0)), $0.int64(1)] } == [[1, 3], [9, 1], [10, 1]])
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.tally_hour") == 2)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.tally_day") == 3)
        }
    }

    @Test func `a worker whose day nobody made makes it, and seven days ahead`() async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            let run = try await fixture.makeExpandedRun()
            let batch = try #require(try await fixture.claim(run, worker))
            let jobs = try await fixture.batches.jobs(of: batch, attributes: [])
            for row in try await fixture.client.query(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'pushfleet.delivery'::regclass")
            {
                _ = try await fixture.client.query("DROP TABLE \(unescaped: row.string(0))")
            }
            try await fixture.flush(batch, worker, jobs, as: .delivered)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.delivery") == 10)
            let days = try await fixture.count(
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'pushfleet.delivery'::regclass")
            #expect(days == 8)
        }
    }

    @Test func `no day is vacuumed for its inserts while it is written, each is once it is over`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.members.owner.query(
                "SELECT pushfleet.ensure_day('attempt', date '2024-03-01')::text")
            let spared: PostgresQuery = """
                SELECT string_agg(child.relname, ' ' ORDER BY child.relname)
                FROM pg_inherits i
                JOIN pg_class child ON child.oid = i.inhrelid
                WHERE i.inhparent IN ('pushfleet.delivery'::regclass, 'pushfleet.attempt'::regclass)
                    AND child.reloptions @> '{autovacuum_vacuum_insert_threshold=-1}'
                """
            let made = try await fixture.client.query(spared)[0].string(0).split(separator: " ")
            #expect(made.contains("attempt_20240301"))
            try await fixture.schedule.ensureDays()
            let kept = try await fixture.client.query(spared)[0].string(0).split(separator: " ")
            #expect(kept.count == 16)
            #expect(!kept.contains("attempt_20240301"))
        }
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// Sums of tallies by hour and day, which reports of months read.
@Suite(.timeLimit(.minutes(1))) struct SumTests {
    /// Adds 21 to an hour's tallies of the run: new cells, or more in those that are there.
    private static func write(_ fixture: QueueFixture, _ run: Run.ID, hoursAgo: Int64) async throws {
        _ = try await fixture.client.query(
            """
            INSERT INTO pushfleet.tally AS t (
                hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served
            )
            SELECT date_trunc('hour', now()) - \(hoursAgo) * interval '1 hour', \(run.rawValue), \(fixture.route.rawValue), 1, g, g,
                g, 0, 0, 'en', 'en'
            FROM generate_series(1, 6) g
            ON CONFLICT (run_id, hour, route_id, outcome, reason, content_version, variant, asked, served)
            DO UPDATE SET n = t.n + excluded.n
            """)
    }

    private static func differences(_ fixture: QueueFixture) async throws -> Int64 {
        try await fixture.count(
            """
            SELECT count(*)
            FROM (
                SELECT t.hour, run.app_id, t.outcome, sum(t.n) AS n
                FROM pushfleet.tally t JOIN pushfleet.run ON run.id = t.run_id
                WHERE NOT run.is_test
                GROUP BY t.hour, run.app_id, t.outcome
            ) cells
            FULL JOIN (
                SELECT s.hour, s.app_id, s.outcome, sum(s.n) AS n FROM pushfleet.tally_hour s GROUP BY s.hour, s.app_id, s.outcome
            ) sums USING (hour, app_id, outcome)
            WHERE cells.n IS DISTINCT FROM sums.n
            """)
    }

    @Test func `sums are those of the tallies, whoever writes them at once`() async throws {
        try await QueueFixture.run { fixture in
            let run = try await fixture.makeExpandedRun()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in Int64(0)..<6 {
                    group.addTask {
                        for turn in Int64(0)..<5 { try await Self.write(fixture, run, hoursAgo: (writer + turn) % 30) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await Self.differences(fixture) == 0)
            #expect(try await fixture.count("SELECT sum(jobs)::bigint FROM pushfleet_report.hourly") == 630)
            #expect(try await fixture.count("SELECT sum(jobs)::bigint FROM pushfleet_report.daily") == 630)
            #expect(
                try await fixture.count("SELECT sum(jobs)::bigint FROM pushfleet_report.newly_unregistered") == 90)
        }
    }

    @Test func `a subscriber is counted once, however often an hour is counted`() async throws {
        try await QueueFixture.run { fixture in
            try await fixture.books.countTokens()
            _ = try await fixture.client.query("UPDATE pushfleet.subscriber SET state = 3 WHERE id <= 3")
            try await fixture.books.countTokens()
            _ = try await fixture.client.query("UPDATE pushfleet.subscriber SET state = 3")
            try await fixture.books.countTokens()
            let known = try await fixture.count("SELECT count(*) FROM pushfleet.subscriber")
            #expect(
                try await fixture.texts(
                    "SELECT DISTINCT state || ' ' || sum(subscribers) OVER () FROM pushfleet_report.tokens") == [
                        "unregistered \(known)"
                    ])
        }
    }

    @Test func `single notifications are found in their own lane, whatever they wait for`() async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            let notify: (String) -> PostgresQuery = { options in
                """
                SELECT pushfleet.notify('ferry', '{"externalId": "u1"}', '{"silent": true}', \(PostgresJSON(options)))
                """
            }
            _ = try await fixture.client.query(notify("{}"))
            let batch = try #require(
                try await fixture.lane.collect(shard: fixture.shard, worker: worker, claimNumber: 1, limit: 10).first)
            let jobs = try await fixture.batches.jobs(of: batch.batch, attributes: [])
            _ = try await fixture.flush(batch.batch, worker, jobs, as: nil)
            let later = Date(timeIntervalSinceNow: 3600).formatted(.iso8601)
            _ = try await fixture.client.query(notify(#"{"notBefore": "\#(later)"}"#))
            _ = try await fixture.client.query(notify("{}"))
            #expect(
                try await fixture.texts(
                    """
                    SELECT concat_ws(' ', lane, jobs, ready, leased, scheduled, retrying)
                    FROM pushfleet_report.queue
                    ORDER BY 1
                    """) == ["campaign 0 0 0 0 0", "transactional 2 1 0 1 1"])
        }
    }

    @Test func `a fold adds to the sums what it adds to the tallies, and test runs are left out`() async throws {
        try await QueueFixture.run { fixture in
            let store = fixture.books
            let worker = try await fixture.hire()
            for isTest in [false, true] {
                let run = try await fixture.makeExpandedRun()
                let batch = try #require(try await fixture.claim(run, worker, number: isTest ? 2 : 1))
                try await fixture.flush(
                    batch, worker, try await fixture.batches.jobs(of: batch, attributes: []), as: .delivered,
                    answered: isTest ? 2 : 1)
                _ = try await fixture.client.query(
                    "UPDATE pushfleet.run SET is_test = \(isTest) WHERE id = \(run.rawValue)")
            }
            _ = try await fixture.client.query("UPDATE pushfleet.delivery SET at = at - interval '5 s'")
            _ = try await fixture.client.query("INSERT INTO pushfleet.tally_mark VALUES (0, now() - interval '9 min')")
            // A fold stays within one hour, and these nine minutes may lie in two.
            let counted = try await [store.fold(shard: fixture.shard), store.fold(shard: fixture.shard)]
            #expect(counted[0] + counted[1] == 20)
            #expect(try await fixture.count("SELECT sum(n)::bigint FROM pushfleet.tally") == 20)
            #expect(try await fixture.count("SELECT sum(n)::bigint FROM pushfleet.tally_hour") == 10)
            #expect(try await Self.differences(fixture) == 0)
        }
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct RetryTests {
    @Test func `due retries of a paused run do not hold up those of another`() async throws {
        // No accounting at the end: the retries are made up.
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 4) { client in
                let members = QueueFixture.Members(all: client)
                let queue = try await QueueFixture.make(database, client, members, subscribers: 10, .none)
                let (paused, running) = (try await queue.makeRun(), try await queue.makeRun())
                _ = try await queue.control.pause(paused)
                for (run, count, due) in [(paused, 60_000, 60), (running, 3, 10)] {
                    _ = try await client.query(
                        """
                        INSERT INTO pushfleet.retry (
                            shard, run_id, number, subscriber_id, route_id, due_at, expires_at, content_version, attempts,
                            doubtful
                        )
                        SELECT 0, \(run.rawValue), g, 1, \(queue.route.rawValue), now() - \(Int32(due)) * interval '1 s',
                            now() + interval '1 hour', 1, 1, false
                        FROM generate_series(1, \(Int32(count))) g
                        """, deadline: .seconds(60))
                }
                #expect(try await queue.schedule.rebatch(shard: queue.shard, limit: 500) == 3)
                let left = try await queue.count(
                    "SELECT count(*) FROM pushfleet.retry WHERE run_id = \(running.rawValue)")
                #expect(left == 0)
            }
        }
    }

    @Test func `retries of single notifications share batches, and each keeps its own expiry`() async throws {
        // No accounting at the end: the retries are made up.
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 4) { client in
                let members = QueueFixture.Members(all: client)
                let queue = try await QueueFixture.make(database, client, members, subscribers: 1000, .none)
                let run = try await queue.makeRun()
                _ = try await client.query("UPDATE pushfleet.run SET standing = true, occurrence_at = now()")
                _ = try await client.query(
                    """
                    INSERT INTO pushfleet.retry (
                        shard, run_id, number, subscriber_id, route_id, due_at, expires_at, content_version, attempts,
                        doubtful
                    )
                    SELECT 0, \(run.rawValue), g, g, \(queue.route.rawValue), now() - interval '2 s',
                        date_trunc('second', now()) + interval '1 hour' + g * interval '1 us',
                        (SELECT min(id) FROM pushfleet.content_version), 1, false
                    FROM generate_series(1, 1000) g
                    """)
                #expect(try await queue.schedule.rebatch(shard: queue.shard, limit: 500) == 1000)
                #expect(try await queue.count("SELECT count(*) FROM pushfleet.batch") == 2)
                var expiries: Set<Int64> = []
                let worker = try await queue.hire()
                for number in 1...2 {
                    let batch = try #require(try await queue.claim(run, worker, number: Int32(number)))
                    let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                    for job in jobs {
                        let expiry = try #require(job.expiresAt)
                        #expect(expiry.microseconds % 1_000_000 == job.number && expiry <= batch.expiresAt)
                        expiries.insert(expiry.microseconds)
                    }
                    try await queue.flush(batch, worker, jobs.prefix(1), as: nil, answered: Int32(number)) {
                        $0.expiresAt = jobs[0].expiresAt
                    }
                }
                #expect(expiries.count == 1000)
                let again = try await client.query("SELECT number, expires_at FROM pushfleet.retry")
                #expect(again.count == 2)
                for row in again { #expect(row.timestampMicroseconds(1) % 1_000_000 == row.int64(0)) }
            }
        }
    }
}

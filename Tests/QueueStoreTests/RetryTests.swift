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
}

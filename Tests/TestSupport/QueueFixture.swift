import Domain
import Foundation
import Postgres
import QueueStore
import Testing

/// A queue in a database of its own: one app with an FCM and an APNs route, and subscribers 1 to `n` in shard 0.
package struct QueueFixture: Sendable {
    package let database: TemporaryDatabase
    /// What a test itself does and looks at.
    package let client: PostgresClient
    package let members: Members
    package let batches: PostgresBatchStore
    package let lane: PostgresLaneStore
    package let schedule: PostgresScheduleStore
    package let housekeeping: PostgresHousekeepingStore
    package let books: PostgresBookkeepingStore
    package let admin: AdminStore
    package let control: ControlStore
    package let shard = Shard(rawValue: 0)
    /// The route of all subscribers.
    package let route: Route.ID

    /// The queue as each part of the fleet reaches it: with the login of its own role.
    package struct Members: Sendable {
        package let owner, scheduler, worker, janitor: PostgresClient

        /// All with one login.
        package init(all client: PostgresClient) {
            (owner, scheduler, worker, janitor) = (client, client, client, client)
        }

        private init(
            owner: PostgresClient, scheduler: PostgresClient, worker: PostgresClient, janitor: PostgresClient
        ) {
            (self.owner, self.scheduler, self.worker, self.janitor) = (owner, scheduler, worker, janitor)
        }

        package static func run<Result>(
            _ database: TemporaryDatabase, _ body: (Members) async throws -> Result
        ) async throws -> Result {
            try await database.withClient(connections: 4, as: .owner) { owner in
                try await database.withClient(connections: 6, as: .scheduler) { scheduler in
                    try await database.withClient(connections: 12, as: .worker) { worker in
                        try await database.withClient(connections: 6, as: .janitor) { janitor in
                            try await body(
                                Members(owner: owner, scheduler: scheduler, worker: worker, janitor: janitor))
                        }
                    }
                }
            }
        }
    }

    /// Makes the queue, lends it, and when the test is done proves that every run adds up.
    package static func run(
        subscribers: Int = 40, checkpoints: Checkpoints = .none, _ body: (QueueFixture) async throws -> Void
    ) async throws {
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 12) { client in
                try await Members.run(database) { members in
                    let fixture = try await make(
                        database, client, members, subscribers: subscribers, checkpoints)
                    try await body(fixture)
                    try await fixture.expectSound()
                }
            }
        }
    }

    /// For a test that breaks the accounting on purpose, and so proves nothing at its end.
    package static func make(
        _ database: TemporaryDatabase, _ client: PostgresClient, _ members: Members, subscribers: Int,
        _ checkpoints: Checkpoints
    ) async throws -> QueueFixture {
        let admin = AdminStore(members.owner)
        _ = try await client.query("SELECT pushfleet.ensure_days(1)::text")
        _ = try await admin.createApp(name: "ferry", timeZone: "UTC")
        _ = try await admin.addCredential(
            NewCredential(
                app: "ferry", name: "firebase", transport: .fcm, file: "/etc/pushfleet/ferry.json",
                endpoint: nil, facts: [:]))
        let route = try await client.query("SELECT id FROM pushfleet.route")[0].int64(0)
        _ = try await client.query(
            """
            INSERT INTO pushfleet.subscriber (shard, id, app_id, transport, address, external_id, registered_at)
            OVERRIDING SYSTEM VALUE
            SELECT 0, g, 1, 2, 'token-' || g, 'u' || g, now() - interval '1 day'
            FROM generate_series(1, \(Int64(subscribers))) g
            """, deadline: .seconds(60))
        return QueueFixture(
            database: database, client: client, members: members,
            batches: PostgresBatchStore(claims: members.worker, flushes: members.worker, checkpoints: checkpoints),
            lane: PostgresLaneStore(client: members.worker, checkpoints: checkpoints),
            schedule: PostgresScheduleStore(client: members.scheduler, checkpoints: checkpoints),
            housekeeping: PostgresHousekeepingStore(
                client: members.janitor, evacuateAfter: .zero, checkpoints: checkpoints),
            books: PostgresBookkeepingStore(client: members.janitor, owner: members.owner),
            admin: admin, control: ControlStore(members.owner), route: Route.ID(route))
    }

    /// A run over all subscribers, not expanded yet.
    package func makeRun(
        batchSize: Int16 = 10, policy: InDoubtPolicy = .retry, window: Int16 = 5000, attempts: Int16 = 8,
        ttl: Duration = .seconds(3600), dueIn: Duration = .zero
    ) async throws -> Run.ID {
        let content = try await client.query(
            """
            INSERT INTO pushfleet.content_version (message) VALUES ('{"content": {"en": {"title": "Hi", "body": "{{name}}"}}}')
            RETURNING id
            """)[0].int64(0)
        let run = try await client.query(
            """
            INSERT INTO pushfleet.run (
                app_id, batch_size, in_doubt, announce_window, max_attempts, ttl, due_at, content_version, audience_as_of
            )
            VALUES (
                1, \(batchSize), \(policy.rawValue), \(window), \(attempts), \(PostgresInterval(ttl)),
                now() + \(PostgresInterval(dueIn)), \(content), now()
            )
            RETURNING id
            """)[0].int64(0)
        _ = try await client.query("INSERT INTO pushfleet.run_progress (shard, run_id) VALUES (0, \(run))")
        return Run.ID(run)
    }

    package func expand(_ run: Run.ID, pageSize: Int32 = 25) async throws {
        while let page = try await schedule.expand(run: run, shard: shard, pageSize: pageSize), !page.complete {}
    }

    package func makeExpandedRun(
        batchSize: Int16 = 10, policy: InDoubtPolicy = .retry, window: Int16 = 5000, attempts: Int16 = 8,
        ttl: Duration = .seconds(3600)
    ) async throws -> Run.ID {
        let run = try await makeRun(
            batchSize: batchSize, policy: policy, window: window, attempts: attempts, ttl: ttl)
        try await expand(run)
        return run
    }

    /// A worker with a lease.
    package func hire(lease: Duration = .seconds(600)) async throws -> WorkerID {
        let worker = WorkerID(UUID().uuidString)
        try await batches.enlist(worker, lease: lease)
        return worker
    }

    package func claim(_ run: Run.ID, _ worker: WorkerID, number: Int32 = 1) async throws -> ClaimedBatch? {
        try await batches.claim(
            shard: shard, worker: worker, claimNumber: number, pairs: [Pair(run: run, route: route)])
    }

    /// Records the same outcome for some jobs of a batch.
    @discardableResult
    package func flush(
        _ batch: ClaimedBatch, _ worker: WorkerID, _ jobs: some Sequence<PushJob>, as outcome: Outcome?,
        answered: Int32 = 1, change: (inout Flush.Item) -> Void = { _ in }
    ) async throws -> [Flush.State] {
        let items = jobs.map { job in
            var item = Flush.Item(
                batch: batch.id, ordinal: job.ordinal, number: job.number, subscriber: job.subscriber, outcome: outcome,
                status: 200, reason: .none, attempts: job.attempts + 1, addressVersion: job.recipient?.addressVersion)
            change(&item)
            return item
        }
        let held = Flush.Held(batch: batch.id, epoch: batch.epoch, announce: Int32(batch.size))
        return try await batches.flush(
            Flush(shard: shard, answeredClaims: answered, checkedClaims: 0, held: [held], items: items),
            worker: worker, lease: .seconds(600))
    }

    package func accounting(_ run: Run.ID) async throws -> Accounting {
        try #require(try await admin.progress(of: run)).accounting
    }

    package func count(_ query: PostgresQuery) async throws -> Int64 { try await client.query(query)[0].int64(0) }

    /// Every run adds up, and its rows are as many as its tallies say.
    package func expectSound() async throws {
        #expect(try await admin.violations() == 0)
        #expect(try await housekeeping.sweep(shard: shard) == 0)
        for row in try await client.query("SELECT id FROM pushfleet.run ORDER BY id") {
            #expect(try await admin.audit(Run.ID(row.int64(0))) == [])
        }
    }
}

import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite struct LaneTests {
    private static let message = #"{"content": {"en": {"title": "Hi", "body": "there"}, "_default": "en"}}"#

    private static func notify(
        _ fixture: QueueFixture, _ recipient: String, message: String = message, options: String = "{}"
    ) async throws -> Int64 {
        try await fixture.client.query(
            """
            SELECT pushfleet.notify('ferry', \(PostgresJSON(recipient)), \(PostgresJSON(message)), \(PostgresJSON(options)))
            """)[0].int64(0)
    }

    private static func collect(
        _ fixture: QueueFixture, _ worker: WorkerID, number: Int32 = 1, limit: Int32 = 100
    ) async throws -> [CollectedBatch] {
        try await fixture.lane.collect(
            shard: fixture.shard, worker: worker, claimNumber: number, limit: limit)
    }

    @Test func `Notifications of one route become one leased batch with their own contents`() async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            let first = try await Self.notify(fixture, #"{"externalId": "u1"}"#)
            _ = try await Self.notify(fixture, #"{"externalId": "u2"}"#)
            _ = try await Self.notify(
                fixture, #"{"externalId": "u3"}"#,
                message: #"{"content": {"en": {"title": "Other", "body": "{{name}}"}, "_default": "en"}}"#)
            let collected = try await Self.collect(fixture, worker)
            #expect(collected.count == 1)
            let one = try #require(collected.first)
            #expect(one.batch.size == 3 && one.batch.announced == 3 && one.batch.isCollected)
            #expect(one.contentVersions.count == 2)
            let jobs = try await fixture.batches.jobs(of: one.batch, attributes: [])
            #expect(jobs.map(\.subscriber.rawValue) == [1, 2, 3])
            #expect(jobs.first?.number == first)
            #expect(Set(jobs.compactMap(\.contentVersion)) == Set(one.contentVersions))
            try await fixture.flush(one.batch, worker, jobs, as: .delivered)
            #expect(try await fixture.accounting(one.batch.run).delivered == 3)
            #expect(try await Self.collect(fixture, worker, number: 2).isEmpty)
        }
    }

    @Test func `Racing collects never share a notification`() async throws {
        try await QueueFixture.run { fixture in
            for subscriber in 1...40 { _ = try await Self.notify(fixture, #"{"subscriber": \#(subscriber)}"#) }
            let seen = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for number in 1...8 {
                    group.addTask {
                        let worker = try await fixture.hire()
                        var numbers: [Int64] = []
                        for one in try await Self.collect(fixture, worker, number: Int32(number), limit: 7) {
                            numbers += try await fixture.batches.jobs(of: one.batch, attributes: []).map(\.number)
                        }
                        return numbers
                    }
                }
                return try await group.reduce(into: [Int64]()) { $0 += $1 }
            }
            #expect(Set(seen).count == seen.count)
            #expect(seen.count == 40)
        }
    }

    @Test func `A rolled back notification leaves nothing, a committed one is due at once`() async throws {
        try await QueueFixture.run { fixture in
            let lane = fixture.lane
            struct Undo: Error {}
            await #expect(throws: Undo.self) {
                try await fixture.client.withTransaction { connection in
                    _ = try await connection.query(
                        "SELECT pushfleet.notify('ferry', '{\"externalId\": \"u1\"}', \(PostgresJSON(Self.message)))")
                    throw Undo()
                }
            }
            #expect(try await lane.hasDue(in: fixture.shard) == false)
            _ = try await Self.notify(fixture, #"{"externalId": "u1"}"#)
            #expect(try await lane.hasDue(in: fixture.shard))
        }
    }

    /// Rows read of waiting notifications, in scans of the table and of its indexes, by one look.
    private static func rowsOfLook(_ fixture: QueueFixture, without sated: [Int64] = []) async throws -> Int64 {
        let rows: PostgresQuery = """
            SELECT pg_stat_get_xact_tuples_returned('pushfleet.notification'::regclass)
                + sum(pg_stat_get_xact_tuples_returned(indexrelid))::bigint
            FROM pg_index
            WHERE indrelid = 'pushfleet.notification'::regclass
            """
        return try await fixture.client.withTransaction { session in
            let before = try await session.query(rows)[0].int64(0)
            _ = try await session.query(
                "SELECT count(*) FROM pushfleet.due_notifications(\(fixture.shard.rawValue), 100, \(sated))")
            return try await session.query(rows)[0].int64(0) - before
        }
    }

    private static func add(_ count: Int64, to run: Run.ID, dueIn span: Duration, _ fixture: QueueFixture) async throws
    {
        _ = try await fixture.client.query(
            """
            INSERT INTO pushfleet.notification (shard, run_id, subscriber_id, content_version, due_at, expires_at)
            SELECT n.shard, n.run_id, n.subscriber_id, n.content_version,
                clock_timestamp() + \(PostgresInterval(span)), n.expires_at
            FROM (SELECT * FROM pushfleet.notification WHERE run_id = \(run.rawValue) LIMIT 1) n
            CROSS JOIN generate_series(1, \(count))
            """)
        _ = try await fixture.client.query("ANALYZE pushfleet.notification")
    }

    @Test(arguments: ["its run", "its app", "its holder"])
    func `What must wait keeps no other's notifications waiting, and is not walked by a look`(
        paused: String
    ) async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            _ = try await Self.notify(fixture, #"{"externalId": "u1"}"#)
            let waiting = Run.ID(try await fixture.count("SELECT max(run_id) FROM pushfleet.notification"))
            try await Self.add(5_000, to: waiting, dueIn: .seconds(-60), fixture)
            var sated: Set<Run.ID> = []
            switch paused {
            case "its run": #expect(try await fixture.control.pause(waiting))
            case "its app": _ = try await fixture.client.query("SELECT pushfleet.pause_app('ferry')")
            default: sated = [waiting]
            }
            #expect(try await fixture.lane.hasDue(in: fixture.shard, without: sated) == false)
            #expect(try await Self.rowsOfLook(fixture, without: sated.map(\.rawValue)) < 300)
            let none = try await fixture.lane.collect(
                shard: fixture.shard, worker: worker, claimNumber: 1, limit: 100, without: sated)
            #expect(none.isEmpty)
            guard paused != "its app" else { return }
            let other = try await Self.notify(
                fixture, #"{"externalId": "u2"}"#, options: #"{"inDoubt": "assume_sent"}"#)
            #expect(try await fixture.lane.hasDue(in: fixture.shard, without: sated))
            let collected = try await fixture.lane.collect(
                shard: fixture.shard, worker: worker, claimNumber: 2, limit: 100, without: sated)
            let batch = try #require(collected.first).batch
            #expect(collected.count == 1 && batch.run != waiting && batch.size == 1)
            let jobs = try await fixture.batches.jobs(of: batch, attributes: [])
            #expect(jobs.map(\.number) == [other])
        }
    }

    @Test func `A look walks none of what is due later`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await Self.notify(fixture, #"{"externalId": "u1"}"#)
            let run = Run.ID(try await fixture.count("SELECT max(run_id) FROM pushfleet.notification"))
            _ = try await fixture.client.query(
                "UPDATE pushfleet.notification SET due_at = clock_timestamp() + interval '1 hour'")
            try await Self.add(5_000, to: run, dueIn: .seconds(3600), fixture)
            #expect(try await fixture.lane.hasDue(in: fixture.shard) == false)
            #expect(try await Self.rowsOfLook(fixture) < 10)
        }
    }

    @Test func `A user's devices are all reached under one id, and taken back under it`() async throws {
        try await QueueFixture.run { fixture in
            _ = try await fixture.client.query("UPDATE pushfleet.subscriber SET user_id = 'ann' WHERE id <= 3")
            let id = try await Self.notify(fixture, #"{"user": "ann"}"#)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.notification") == 3)
            #expect(try await fixture.count("SELECT pushfleet.cancel_notification(\(id))::bigint") == 3)
            #expect(try await fixture.count("SELECT pushfleet.cancel_notification(\(id))::bigint") == 0)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.delivery WHERE outcome = 5") == 3)
        }
    }

    @Test(arguments: [#"{"subscriber": 2500}"#, #"{"externalId": "u2500"}"#, #"{"user": "u2500"}"#])
    func `A recipient is found by an index, however it is named`(recipient: String) async throws {
        try await QueueFixture.run(subscribers: 5_000) { fixture in
            _ = try await fixture.client.query("UPDATE pushfleet.subscriber SET user_id = external_id")
            _ = try await fixture.client.query("ANALYZE pushfleet.subscriber")
            // Rows read by this session and not yet reported: in scans of the whole table, and of its indexes.
            let rows: PostgresQuery = """
                SELECT pg_stat_get_xact_tuples_returned('pushfleet.subscriber'::regclass)
                    + sum(pg_stat_get_xact_tuples_returned(indexrelid))::bigint
                FROM pg_index
                WHERE indrelid = 'pushfleet.subscriber'::regclass
                """
            try await fixture.client.withTransaction { session in
                let before = try await session.query(rows)[0].int64(0)
                for _ in 1...8 {
                    _ = try await session.query(
                        "SELECT pushfleet.notify('ferry', \(PostgresJSON(recipient)), \(PostgresJSON(Self.message)))")
                }
                let read = try await session.query(rows)[0].int64(0) - before
                // With what the update above left behind, and not each subscriber at each call.
                #expect((8...24).contains(read))
                let queued = try await session.query(
                    "SELECT count(*) FROM pushfleet.notification WHERE subscriber_id = 2500")[0].int64(0)
                #expect(queued == 8)
            }
        }
    }

    @Test func `The same key and body gives the same notification, another body is refused`() async throws {
        try await QueueFixture.run { fixture in
            let key = #"{"idempotencyKey": "order-7"}"#
            let first = try await Self.notify(fixture, #"{"externalId": "u1"}"#, options: key)
            #expect(try await Self.notify(fixture, #"{"externalId": "u1"}"#, options: key) == first)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.notification") == 1)
            let error = await #expect(throws: PostgresError.self) {
                _ = try await Self.notify(fixture, #"{"externalId": "u2"}"#, options: key)
            }
            #expect(error?.sqlState == "PF409")
        }
    }

    @Test(arguments: [
        (#"{"externalId": ""}"#, "{}", "PF400", "/recipient"),
        (#"{"user": "a", "subscriber": 1}"#, "{}", "PF400", "/recipient"),
        ("[]", "{}", "PF400", "/recipient"),
        (#"{"subscriber": 1.5}"#, "{}", "PF400", "/recipient"),
        (#"{"externalId": "u1"}"#, #"{"ttlSeconds": -1}"#, "PF400", "/options/ttlSeconds"),
        (#"{"externalId": "u1"}"#, #"{"ttlSeconds": "60"}"#, "PF400", "/options/ttlSeconds"),
        (#"{"externalId": "u1"}"#, #"{"notBefore": "tomorrow"}"#, "PF400", "/options/notBefore"),
        (#"{"externalId": "u1"}"#, #"{"notBefore": "2026-13-01T00:00:00Z"}"#, "PF400", "/options/notBefore"),
        (#"{"externalId": "u1"}"#, #"{"priority": "urgent"}"#, "PF400", "/options/priority"),
        (#"{"externalId": "u1"}"#, #"{"weight": 1}"#, "PF400", "/options/weight"),
        (#"{"externalId": "u1"}"#, #"{"a/b": 1}"#, "PF400", "/options/a~1b"),
        (#"{"externalId": "u1"}"#, #"{"notBefore": "2026-12-24T09:00:00+23:00"}"#, "PF400", "/options/notBefore"),
        (#"{"externalId": "u1"}"#, #""ttlSeconds""#, "PF400", "/options"),
    ])
    func `Bad input is refused with its pointer`(
        recipient: String, options: String, state: String, pointer: String
    ) async throws {
        try await QueueFixture.run { fixture in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await Self.notify(fixture, recipient, options: options)
            }
            #expect(error?.sqlState == state)
            let said = error.map(\.message) ?? ""
            #expect(said.contains(pointer))
            let waiting = try await fixture.count("SELECT count(*) FROM pushfleet.notification")
            #expect(waiting == 0)
        }
    }

    @Test func `Whoever is not there any more is skipped, an unknown recipient targets nobody`() async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            _ = try await Self.notify(fixture, #"{"externalId": "nobody"}"#)
            _ = try await Self.notify(fixture, #"{"externalId": "u1"}"#)
            _ = try await Self.notify(fixture, #"{"externalId": "u2"}"#)
            _ = try await fixture.client.query("DELETE FROM pushfleet.subscriber WHERE id = 1")
            _ = try await fixture.client.query("UPDATE pushfleet.subscriber SET state = 3 WHERE id = 2")
            #expect(try await Self.collect(fixture, worker).isEmpty)
            let reasons = try await fixture.client.query(
                "SELECT reason FROM pushfleet.delivery WHERE outcome = 6 ORDER BY subscriber_id")
            #expect(reasons.map { $0.int16(0) } == [Reason.erased.rawValue, Reason.notActive.rawValue])
        }
    }

    @Test func `What nobody collected in time ends as expired`() async throws {
        try await QueueFixture.run { fixture in
            let id = try await Self.notify(fixture, #"{"externalId": "u1"}"#, options: #"{"ttlSeconds": 1}"#)
            _ = try await fixture.client.query(
                "UPDATE pushfleet.notification SET (due_at, expires_at) = (due_at - interval '1 s', due_at)")
            #expect(try await fixture.housekeeping.settle(shard: fixture.shard) == 1)
            #expect(
                try await fixture.count("SELECT outcome::bigint FROM pushfleet.delivery WHERE number = \(id)") == 4)
        }
    }

    @Test(arguments: [(0, 60, 0), (1, 1, 1), (600, 600, 600)])
    func `Now or never has a minute to get there, and no provider keeps it`(
        asked: Int, life: Int64, kept: Int64
    ) async throws {
        try await QueueFixture.run { fixture in
            let worker = try await fixture.hire()
            _ = try await Self.notify(fixture, #"{"externalId": "u1"}"#, options: #"{"ttlSeconds": \#(asked).0}"#)
            let seconds = try await fixture.count(
                "SELECT extract(epoch FROM expires_at - due_at)::bigint FROM pushfleet.notification")
            #expect(seconds == life)
            let batch = try #require(try await Self.collect(fixture, worker).first)
            let content = try await fixture.batches.contentVersion(batch.batch.contentVersion)
            #expect(content.delivery.keepSeconds(remaining: life) == kept)
            // As the runs of campaigns have it.
            #expect(DeliveryOptions(ttlSeconds: asked).life == .seconds(life))
        }
    }

    @Test func `The days that are made ahead are those of each policy that an app uses`() async throws {
        try await QueueFixture.run { fixture in
            let days: PostgresQuery = """
                SELECT in_doubt || ' ' || (occurrence_at AT TIME ZONE 'UTC')::date - (now() AT TIME ZONE 'UTC')::date
                FROM pushfleet.run WHERE standing ORDER BY 1
                """
            _ = try await fixture.client.query("SELECT pushfleet.ensure_standing_runs()")
            #expect(try await fixture.texts(days) == ["0 0", "0 1"])
            _ = try await Self.notify(fixture, #"{"externalId": "u1"}"#, options: #"{"inDoubt": "assume_sent"}"#)
            _ = try await fixture.client.query("SELECT pushfleet.ensure_standing_runs()")
            #expect(try await fixture.texts(days) == ["0 0", "0 1", "1 0", "1 1"])
        }
    }

    @Test func `Only so many workers have the duty of the lane at a time`() async throws {
        try await QueueFixture.run { fixture in
            let lane = fixture.lane
            let workers = [try await fixture.hire(), try await fixture.hire(), try await fixture.hire()]
            var slots: [Int16?] = []
            for worker in workers { slots.append(try await lane.takeDuty(worker, for: .seconds(60))) }
            #expect(slots == [1, 2, nil])
            #expect(try await lane.takeDuty(workers[1], for: .seconds(60)) == 2)
            #expect(try await lane.takeDuty(workers[0], for: .zero) == 1)
            #expect(try await lane.takeDuty(workers[2], for: .seconds(60)) == 1)
        }
    }

    @Test func `Who has the second slot of the lane's duty moves up when the first is free`() async throws {
        try await QueueFixture.run { fixture in
            let lane = fixture.lane
            let workers = [try await fixture.hire(), try await fixture.hire()]
            #expect(try await lane.takeDuty(workers[0], for: .zero) == 1)
            #expect(try await lane.takeDuty(workers[0], for: .seconds(60)) == 1)
            #expect(try await lane.takeDuty(workers[1], for: .seconds(60)) == 2)
            #expect(try await lane.takeDuty(workers[0], for: .zero) == 1)
            #expect(try await lane.takeDuty(workers[1], for: .seconds(60)) == 1)
        }
    }

    @Test func `A role may call for the apps that it was granted, and has nothing else`() async throws {
        try await QueueFixture.run { fixture in
            let role = "caller_" + fixture.database.url.suffix(12)
            _ = try await fixture.client.query("CREATE ROLE \(unescaped: role) LOGIN")
            for grant in [
                "GRANT USAGE ON SCHEMA pushfleet TO",
                "GRANT EXECUTE ON FUNCTION pushfleet.notify, pushfleet.cancel_notification TO",
            ] { _ = try await fixture.client.query("\(unescaped: grant) \(unescaped: role)") }
            let url = fixture.database.directURL + "&user=\(role)"
            try await TemporaryDatabase(url: url).withClient(connections: 1) { client in
                let ask: PostgresQuery =
                    "SELECT pushfleet.notify('ferry', '{\"externalId\": \"u1\"}', \(PostgresJSON(Self.message)))"
                let refused = await #expect(throws: PostgresError.self) { _ = try await client.query(ask) }
                #expect(refused?.sqlState == "PF403")
                _ = try await fixture.client.query("INSERT INTO pushfleet.app_caller VALUES (1, \(role))")
                #expect(try await client.query(ask).count == 1)
                let read = await #expect(throws: PostgresError.self) {
                    _ = try await client.query("SELECT * FROM pushfleet.notification")
                }
                #expect(read?.code == .insufficientPrivilege)
            }
            for revoke in ["DROP OWNED BY", "DROP ROLE"] {
                _ = try await fixture.client.query("\(unescaped: revoke) \(unescaped: role)")
            }
        }
    }
}

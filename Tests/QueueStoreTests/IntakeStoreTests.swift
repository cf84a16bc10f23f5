import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite struct IntakeStoreTests {
    private static func event(
        _ run: Run.ID, _ number: Int64, _ kind: DeviceEvent.Kind, id: String = UUID().uuidString, at: Instant? = nil
    ) -> DeviceEvent {
        DeviceEvent(id: id, run: run, number: number, kind: kind, at: at)
    }

    /// As an SDK sends it.
    static func installation(
        _ id: String, address: String, registeredAt: Instant? = nil, attributes: String = "{\"plan\": \"pro\"}"
    ) throws -> ImportedSubscriber {
        let at = registeredAt.map { ", \"registered_at\": \"\($0.rfc3339)\"" } ?? ""
        let body = """
            {"external_id": "\(id)", "user_id": "ann", "transport": "fcm", "address": "\(address)",
             "language": "pt-BR", "tags": ["a"], "attributes": \(attributes)\(at)}
            """
        switch SubscriberCheck(isPoint: { _ in true }).object(Array(body.utf8)) {
        case .success(let subscriber): return subscriber
        case .failure(let line): throw Refused(line: line)
        }
    }

    private struct Refused: Error { let line: RefusedLine }

    @Test func `An event is counted once, however often and by however many it is sent`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            let events = (1...20).map { Self.event(run, Int64($0), .opened) }
            #expect(try await store.record(events, app: 1) == [IntakeStore.Recorded](repeating: .counted, count: 20))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for turn in 0..<4 {
                    let again = turn.isMultiple(of: 2) ? events : events.reversed()
                    group.addTask {
                        let results = try await store.record(again, app: 1)
                        #expect(results == [IntakeStore.Recorded](repeating: .repeated, count: 20))
                    }
                }
                try await group.waitForAll()
            }
            let counted = try await fixture.client.query(
                "SELECT sum(events)::bigint, sum(notifications)::bigint FROM pushfleet.event_tally")[0]
            #expect(counted.int64(0) == 20 && counted.int64(1) == 20)
            let twice = Self.event(run, 30, .shown)
            #expect(try await store.record([twice, twice], app: 1) == [.counted, .repeated])
        }
    }

    @Test func `A notification that is opened again counts as one opened`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            _ = try await store.record([Self.event(run, 1, .opened), Self.event(run, 1, .opened)], app: 1)
            _ = try await store.record([Self.event(run, 1, .opened), Self.event(run, 1, .shown)], app: 1)
            let row = try await fixture.client.query("SELECT opened, shown FROM pushfleet_report.events")[0]
            #expect(row.int64(0) == 1 && row.int64(1) == 1)
        }
    }

    @Test func `A notification that many say at once was opened counts as one opened`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for turn in 0..<10 {
                    let numbers = turn.isMultiple(of: 2) ? Array(1...30) : (1...30).reversed()
                    let events = numbers.flatMap { number in
                        [DeviceEvent.Kind.opened, .shown].map { Self.event(run, Int64(number), $0) }
                    }
                    group.addTask {
                        let results = try await store.record(events, app: 1)
                        #expect(results.allSatisfy { $0 == .counted })
                    }
                }
                try await group.waitForAll()
            }
            let row = try await fixture.client.query("SELECT opened, shown FROM pushfleet_report.events")[0]
            #expect(row.int64(0) == 30 && row.int64(1) == 30)
            let events = try await fixture.count("SELECT sum(events)::bigint FROM pushfleet.event_tally")
            #expect(events == 600)
        }
    }

    @Test func `An event of another app's run is not counted`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            let other = try await fixture.admin.createApp(name: "tram", timeZone: "UTC")
            let events = [Self.event(run, 1, .shown), Self.event(Run.ID(999), 1, .shown)]
            #expect(try await store.record(events, app: other.id) == [.unknownRun, .unknownRun])
            #expect(try await store.record(events, app: 1) == [.counted, .unknownRun])
        }
    }

    @Test func `The hour is the device's, within the life of the run`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            _ = try await fixture.client.query("UPDATE pushfleet.run SET created_at = now() - interval '5 hours'")
            let now = Instant(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
            _ = try await store.record(
                [
                    Self.event(run, 1, .shown, at: now - .seconds(3 * 3600)),
                    Self.event(run, 2, .shown, at: Instant(microseconds: 0)),
                    Self.event(run, 3, .shown, at: now + .seconds(86_400 * 400)),
                ], app: 1)
            let hours = try await fixture.client.query(
                """
                SELECT (extract(epoch FROM date_trunc('hour', now()) - hour) / 3600)::bigint
                FROM pushfleet.event_tally
                ORDER BY hour
                """)
            let found = hours.map { $0.int64(0) }
            #expect(found.count == 3 && [5, 6].contains(found[0]) && [3, 4].contains(found[1]) && found[2] == 0)
        }
    }

    @Test func `The click rate is that of what the provider accepted, with Wilson's interval`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            _ = try await store.record((1...10).map { Self.event(run, $0, .opened) }, app: 1)
            _ = try await fixture.client.query(
                """
                INSERT INTO pushfleet.tally (
                    hour, run_id, route_id, content_version, n, attempts, outcome, reason, variant, asked, served
                )
                VALUES (date_trunc('hour', now()), \(run.rawValue), 1, 0, 40, 40, 1, 0, 0, '', '')
                """)
            let row = try await fixture.client.query(
                """
                SELECT click_rate::float8, click_rate_low::float8, click_rate_high::float8, accepted
                FROM pushfleet_report.events
                """)[0]
            let expected = try #require(ProportionInterval(successes: 10, of: 40))
            #expect(row.int64(3) == 40 && row.double(0) == 0.25)
            #expect(abs(row.double(1) - expected.low) < 0.00001 && abs(row.double(2) - expected.high) < 0.00001)
            let figures = try #require(try await fixture.admin.events(ofRuns: [run.rawValue]).first)
            #expect(figures.opened == 10 && figures.clickRate == expected)
            _ = try await fixture.client.query("DELETE FROM pushfleet.tally")
            #expect(try await fixture.admin.events(ofRuns: [run.rawValue]).first?.clickRate == nil)
        }
    }

    @Test func `What cannot be repeated any more is cleared`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            _ = try await store.record((1...5).map { Self.event(run, $0, .shown) }, app: 1)
            #expect(try await store.forget(limit: 100) == 0)
            _ = try await fixture.client.query(
                """
                UPDATE pushfleet.event_seen
                SET received_at = now() - interval '25 hours'
                WHERE event_id IN (SELECT event_id FROM pushfleet.event_seen LIMIT 3)
                """)
            _ = try await fixture.client.query(
                "UPDATE pushfleet.event_first SET received_at = now() - interval '25 hours' WHERE number <= 2")
            #expect(try await store.forget(limit: 2) == 2)
            #expect(try await store.forget(limit: 2) == 1)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.event_seen") == 2)
            #expect(try await fixture.count("SELECT count(*) FROM pushfleet.event_first") == 3)
            #expect(try await fixture.count("SELECT sum(events)::bigint FROM pushfleet.event_tally") == 5)
        }
    }

    @Test func `An installation is taken by the rules of an import`() async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            let store = IntakeStore(fixture.client)
            // The fixture numbers its subscribers itself.
            _ = try await fixture.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            let state: PostgresQuery =
                "SELECT state::bigint * 100 + address_version FROM pushfleet.subscriber WHERE external_id = 'phone'"
            #expect(try await store.register(try Self.installation("phone", address: "a"), app: 1) == .added)
            #expect(try await fixture.count(state) == 101)
            let row = try await fixture.client.query(
                """
                SELECT user_id, language, attributes ->> 'plan', tags[1], seen_at IS NOT NULL
                FROM pushfleet.subscriber
                WHERE external_id = 'phone'
                """)[0]
            #expect((0...3).map { row.string($0) } == ["ann", "pt-BR", "pro", "a"])
            #expect(row.bool(4))
            _ = try await fixture.client.query(
                "UPDATE pushfleet.subscriber SET state = 3, evidence = 1, state_since = now() WHERE external_id = 'phone'"
            )
            // The same dead address again says nothing new.
            #expect(try await store.register(try Self.installation("phone", address: "a"), app: 1) == .refreshed)
            #expect(try await fixture.count(state) == 301)
            #expect(try await store.register(try Self.installation("phone", address: "b"), app: 1) == .refreshed)
            #expect(try await fixture.count(state) == 102)
            _ = try await fixture.client.query(
                """
                UPDATE pushfleet.subscriber SET state = 3, state_since = now() - interval '1 hour'
                WHERE external_id = 'phone'
                """)
            let lately = Instant(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) - .seconds(60)
            _ = try await store.register(try Self.installation("phone", address: "b", registeredAt: lately), app: 1)
            #expect(try await fixture.count(state) == 102)
        }
    }

    struct Step: Sendable {
        var address: String
        /// Seconds ago; nil = it was not said.
        var registered: Int64?
        /// What was said an hour ago; 0 = nothing.
        var state: Int16 = 0
    }

    @Test(arguments: [
        [Step(address: "a")], [Step(address: "a", registered: 60), Step(address: "a")],
        [Step(address: "a", registered: 7200), Step(address: "a", registered: 60, state: 3)],
        [Step(address: "a", registered: 7200), Step(address: "a", state: 3)],
        [Step(address: "a", registered: 7200), Step(address: "b", state: 3)],
        [Step(address: "a", registered: 7200), Step(address: "b", registered: 60, state: 2)],
        [Step(address: "a", registered: 60), Step(address: "a", registered: 7200)],
        [
            Step(address: "a", registered: 9000), Step(address: "a", registered: 7200, state: 3),
            Step(address: "a", registered: 600, state: 3),
        ],
        [Step(address: "a"), Step(address: "b", registered: 9000, state: 4), Step(address: "a", registered: 9000)],
    ])
    func `The intake leaves the same row as an import`(steps: [Step]) async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            _ = try await fixture.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            let now = Instant(microseconds: Int64(Date().timeIntervalSince1970) * 1_000_000)
            for step in steps {
                // What was said against the address an hour ago.
                if step.state > 0 {
                    _ = try await fixture.client.query(
                        """
                        UPDATE pushfleet.subscriber
                        SET state = \(step.state), evidence = 1,
                            state_since = \(PostgresTimestamp(microseconds: now.microseconds)) - interval '1 hour'
                        WHERE external_id IN ('imported', 'told')
                        """)
                }
                let at = step.registered.map { now - .seconds($0) }
                var session = try await fixture.admin.beginImport(app: "ferry")
                let line = try Self.installation("imported", address: step.address, registeredAt: at)
                let taken = try await session.take([line][...])
                #expect(taken.refused.isEmpty)
                let told = try Self.installation("told", address: step.address, registeredAt: at)
                _ = try await IntakeStore(fixture.client).register(told, app: 1)
            }
            let rows = try await fixture.client.query(
                """
                SELECT DISTINCT (to_jsonb(s) - '{id,shard,external_id,seen_at,registered_at,state_since}'::text[])::text,
                    s.registered_at < now() - interval '30 s', s.state_since < now() - interval '30 s'
                FROM pushfleet.subscriber s
                WHERE s.external_id IN ('imported', 'told')
                """)
            #expect(rows.count == 1, "\(rows.map { $0.string(0) })")
            let instants = try await fixture.client.query(
                """
                SELECT extract(epoch FROM max(registered_at) - min(registered_at))::float8
                    + extract(epoch FROM max(state_since) - min(state_since))::float8
                FROM pushfleet.subscriber
                WHERE external_id IN ('imported', 'told')
                """)[0]
            // Where nothing was said, each took its own present.
            #expect(instants.double(0) < 10)
        }
    }

    @Test func `An installation that the database cannot hold is refused, not the service`() async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            let bad = try Self.installation("phone", address: "a", attributes: "{\"a\": 1e999999}")
            guard case .refused(let line) = try await IntakeStore(fixture.client).register(bad, app: 1) else {
                Issue.record("it was taken")
                return
            }
            #expect(line.reasons.count == 1)
        }
    }

    /// A device whose clock is ahead registers now; one that the back end took out is back when its app says so again.
    @Test(
        arguments: [
            (nil, 3, nil, 1), (nil, 3, 12, 3), (Instant(microseconds: 4_000_000_000_000_000), 3, 12, 1),
        ] as [(Instant?, Int16, Int16?, Int64)])
    func `An app that registers again revives what its back end took out, or what was said before it did`(
        saidAt: Instant?, state: Int16, evidence: Int16?, after: Int64
    ) async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            let store = IntakeStore(fixture.client)
            _ = try await fixture.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            _ = try await store.register(try Self.installation("phone", address: "a"), app: 1)
            _ = try await fixture.client.query(
                """
                UPDATE pushfleet.subscriber
                SET state = \(state), evidence = \(evidence), state_since = now() - interval '1 minute',
                    registered_at = now() - interval '1 hour'
                WHERE external_id = 'phone'
                """)
            _ = try await store.register(try Self.installation("phone", address: "a", registeredAt: saidAt), app: 1)
            #expect(
                try await fixture.count("SELECT state::bigint FROM pushfleet.subscriber WHERE external_id = 'phone'")
                    == after)
            #expect(
                try await fixture.count("SELECT count(*) FROM pushfleet.subscriber WHERE registered_at > now()") == 0)
        }
    }

    @Test func `An erased installation is gone and its waiting jobs are not`() async throws {
        try await QueueFixture.run { fixture in
            let store = IntakeStore(fixture.client)
            let run = try await fixture.makeExpandedRun()
            #expect(try await store.unregister(externalID: "u3", app: 1))
            #expect(try await store.unregister(externalID: "u3", app: 1) == false)
            let worker = try await fixture.hire()
            let batch = try #require(try await fixture.claim(run, worker))
            let jobs = try await fixture.batches.jobs(of: batch, attributes: [])
            #expect(jobs.count == 10 && jobs.count { $0.recipient == nil } == 1)
        }
    }

    @Test func `A key is found by its hash until it is revoked`() async throws {
        try await QueueFixture.run(subscribers: 1) { fixture in
            let store = IntakeStore(fixture.client)
            let hash = [UInt8](repeating: 7, count: 32)
            let id = try await fixture.admin.addIntakeKey(app: "ferry", hash: hash, label: "pf_abc")
            #expect(try await store.key(hash: hash) == IntakeKey(id: id, app: 1, appName: "ferry"))
            #expect(try await store.key(hash: [UInt8](repeating: 8, count: 32)) == nil)
            try await fixture.admin.revokeIntakeKey(app: "ferry", id: id)
            #expect(try await store.key(hash: hash) == nil)
            await #expect(throws: AdminError.self) { try await fixture.admin.revokeIntakeKey(app: "ferry", id: id) }
            #expect(try await fixture.admin.intakeKeys(app: "ferry").map { $0.revokedAt != nil } == [true])
        }
    }
}

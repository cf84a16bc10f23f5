import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct TokenTests {
    private let credential = Credential.ID(1)

    private func answer(
        _ subscriber: Int64, _ evidence: AddressEvidence, version: Int32 = 1, since: Instant? = nil
    ) -> AddressAnswer {
        AddressAnswer(
            subscriber: Subscriber.ID(subscriber), addressVersion: version, evidence: evidence,
            reason: evidence == .sound ? .none : .fcmUnregistered, status: 404, goneSince: since, run: Run.ID(1),
            credential: credential)
    }

    private func states(_ queue: QueueFixture, _ count: Int64 = 4) async throws -> [Int16] {
        try await queue.client.query("SELECT state FROM pushfleet.subscriber WHERE id <= \(count) ORDER BY id")
            .map { $0.int16(0) }
    }

    private typealias Move = (before: SubscriberState, evidence: AddressEvidence, after: SubscriberState)
    private static let moves: [Move] = [
        (.active, .gone, .quarantined), (.suspect, .gone, .quarantined), (.unregistered, .gone, .unregistered),
        (.wrongProject, .gone, .wrongProject), (.quarantined, .gone, .quarantined),
        (.active, .foreign, .wrongProject), (.suspect, .foreign, .wrongProject),
        (.unregistered, .foreign, .unregistered), (.wrongProject, .foreign, .wrongProject),
        (.quarantined, .foreign, .quarantined), (.active, .suspicious, .suspect), (.suspect, .suspicious, .suspect),
        (.unregistered, .suspicious, .unregistered), (.wrongProject, .suspicious, .wrongProject),
        (.quarantined, .suspicious, .quarantined), (.active, .sound, .active), (.suspect, .sound, .active),
        (.unregistered, .sound, .unregistered), (.wrongProject, .sound, .wrongProject),
        (.quarantined, .sound, .quarantined),
    ]

    @Test func `an answer moves an address as its state allows, and a repeat moves nothing`() async throws {
        try await QueueFixture.run(subscribers: Self.moves.count) { queue in
            for (index, move) in Self.moves.enumerated() {
                _ = try await queue.client.query(
                    """
                    UPDATE pushfleet.subscriber SET state = \(move.before.rawValue) WHERE id = \(Int64(index + 1))
                    """)
            }
            let answers = Self.moves.enumerated().map { answer(Int64($0 + 1), $1.evidence) }
            for _ in 0..<2 { try await queue.batches.weigh(answers, in: queue.shard) }
            let after = try await states(queue, Int64(Self.moves.count))
            for (move, state) in zip(Self.moves, after) { #expect(state == move.after.rawValue, "\(move)") }
            let moved = Self.moves.count { $0.before != $0.after }
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.token_change") == Int64(moved))
        }
    }

    @Test func `an address that changed or registered since is kept, at the same instant too`() async throws {
        try await QueueFixture.run(subscribers: 4) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET address_version = 2 WHERE id = 1")
            let rows = try await queue.client.query("SELECT registered_at FROM pushfleet.subscriber WHERE id = 2")
            let registered = Instant(microseconds: rows[0].timestampMicroseconds(0))
            try await queue.batches.weigh(
                [
                    answer(1, .gone), answer(2, .gone, since: registered),
                    answer(3, .gone, since: registered + .seconds(-1)),
                    answer(4, .gone, since: registered + .microseconds(1)),
                ], in: queue.shard)
            #expect(try await states(queue) == [1, 1, 1, 5])
        }
    }

    @Test func `a few dead addresses are retired after a while, and cleared away after the grace period`() async throws
    {
        try await QueueFixture.run(subscribers: 40) { queue in
            try await queue.send(answers: 40, against: 2)
            try await queue.batches.weigh([answer(1, .gone), answer(2, .gone)], in: queue.shard)
            #expect(try await queue.housekeeping.judgeTokens(hold: .seconds(600)).retired == 0)
            #expect(try await states(queue, 3) == [5, 5, 1])
            // One registers anew meanwhile.
            _ = try await queue.client.query(
                "UPDATE pushfleet.subscriber SET state = 1, state_since = now(), address_version = 2 WHERE id = 2")
            let judgement = try await queue.housekeeping.judgeTokens(hold: .zero)
            #expect(judgement.retired == 1 && judgement.newWaves.isEmpty)
            #expect(try await states(queue, 3) == [3, 1, 1])
            #expect(try await queue.housekeeping.clearTokens(grace: .seconds(3600)) == 0)
            #expect(try await queue.housekeeping.clearTokens(grace: .zero) == 1)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber") == 39)
        }
    }

    @Test func `unregistered for everyone during five minutes retires no token`() async throws {
        try await QueueFixture.run(subscribers: 300) { queue in
            let run = try await queue.makeExpandedRun()
            // Five minutes that began seven minutes ago, after an hour of good answers; each minute tells 60.
            try await queue.send(answers: 1_000_000, against: 100, minutesAgo: 8)
            for minute in 0..<5 {
                let ids = (1...60).map { Int64(minute * 60 + $0) }
                try await queue.batches.weigh(ids.map { answer($0, .gone) }, in: queue.shard)
                try await queue.age(ids, minutes: Int32(7 - minute))
                try await queue.send(answers: 60, against: 60, minutesAgo: Int32(7 - minute))
            }
            let judgement = try await queue.housekeeping.judgeTokens(hold: .zero)
            #expect(judgement.retired == 0 && judgement.newWaves.count == 1)
            #expect(judgement.pausedRuns == [run])
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 3") == 0)
            // Whoever resumes the run is obeyed, and nothing is retired later either.
            #expect(try await queue.control.resume(run))
            let later = try await queue.housekeeping.judgeTokens(hold: .zero)
            #expect(later.retired == 0 && later.newWaves.isEmpty && later.pausedRuns.isEmpty)
            let waves = try await queue.admin.tokenWaves(app: nil)
            #expect(waves.map(\.held) == [300])
            // One command takes the window back.
            #expect(
                try await queue.admin.restoreTokens(app: "ferry", credential: "firebase", in: waves[0].window) == 300)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 1") == 300)
            #expect(try await queue.admin.tokenWaves(app: nil).isEmpty)
            let after = try await queue.housekeeping.judgeTokens(hold: .zero)
            #expect(after.retired == 0 && after.newWaves.isEmpty)
        }
    }

    @Test(arguments: [("2030-01-01T00:00:00Z", 1), ("2020-01-01T00:00:00Z", 3), (nil, 3)] as [(String?, Int16)])
    func `an import revives who registered after the evidence, and nobody else`(
        registeredAt: String?, state: Int16
    ) async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            try await queue.batches.weigh([answer(1, .gone)], in: queue.shard)
            #expect(try await queue.housekeeping.judgeTokens(hold: .zero).retired == 1)
            let line = "u1,fcm,token-1,\(registeredAt ?? "")\n"
            try await queue.importCSV("external_id,transport,address,registered_at\n" + line)
            #expect(try await states(queue) == [state])
        }
    }

    @Test func `a wave that is accepted retires what it held`() async throws {
        try await QueueFixture.run(subscribers: 40) { queue in
            try await queue.batches.weigh((1...30).map { answer($0, .gone) }, in: queue.shard)
            try await queue.send(answers: 40, against: 30)
            #expect(try await queue.housekeeping.judgeTokens(hold: .zero).newWaves.count == 1)
            let wave = try #require(try await queue.admin.tokenWaves(app: "ferry").first)
            #expect(try await queue.admin.acceptTokens(app: "ferry", credential: "firebase", in: wave.window) == 30)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 3") == 30)
            #expect(try await queue.housekeeping.judgeTokens(hold: .zero).newWaves.isEmpty)
        }
    }

    @Test func `addresses of another project raise an alarm from a share on, and come back with the same command`()
        async throws
    {
        try await QueueFixture.run(subscribers: 40) { queue in
            try await queue.batches.weigh((1...25).map { answer($0, .foreign) }, in: queue.shard)
            try await queue.send(answers: 40, against: 25, evidence: .foreign)
            let waves = try await queue.housekeeping.judgeTokens(hold: .zero).newWaves
            #expect(waves.map(\.evidence) == [.foreign] && waves.map(\.against) == [25])
            let wave = try #require(try await queue.admin.tokenWaves(app: "ferry").first)
            #expect(try await queue.admin.restoreTokens(app: "ferry", credential: "firebase", in: wave.window) == 25)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 1") == 40)
        }
    }

    @Test func `flushes count answers and what they say of addresses, once each`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            for _ in 0..<2 {
                try await queue.flush(batch, worker, jobs.prefix(7), as: .unregistered) { item in
                    item.evidence = item.ordinal < 3 ? .gone : item.ordinal < 5 ? .foreign : nil
                }
            }
            // What was never answered counts as no answer.
            try await queue.flush(batch, worker, jobs.suffix(3), as: .skipped) { $0.status = nil }
            let row = try await queue.client.query(
                """
                SELECT sum(answers)::int, sum(gone)::int, sum(foreign_to_us)::int FROM pushfleet.answer_minute
                """)[0]
            #expect(row.int32(0) == 7 && row.int32(1) == 3 && row.int32(2) == 2)
        }
    }

    @Test func `the story of one address names its evidence, and no address`() async throws {
        try await QueueFixture.run(subscribers: 2) { queue in
            try await queue.batches.weigh([answer(1, .gone), answer(2, .suspicious)], in: queue.shard)
            let changes = try await queue.admin.tokenChanges(app: "ferry", credential: nil, state: nil, limit: 10)
            #expect(changes.map(\.to).sorted() == ["quarantined", "suspect"])
            #expect(changes.map(\.verdict).sorted() == ["stands", "waits"])
            let story = try await queue.admin.token(app: "ferry", externalID: "u1")
            #expect(story.state == "quarantined" && story.changes.map(\.reason) == ["fcm_unregistered"])
            #expect(!"\(story)".contains("token-1"))
            await #expect(throws: AdminError.self) { try await queue.admin.token(app: "ferry", externalID: "nobody") }
        }
    }
}

extension QueueFixture {
    /// Counts answers of that minute, as flushes do.
    func send(
        answers: Int32, against: Int32, evidence: AddressEvidence = .gone, minutesAgo: Int32 = 0
    ) async throws {
        _ = try await client.query(
            """
            INSERT INTO pushfleet.answer_minute (
                credential_id, at_minute, worker_id, answers, gone, foreign_to_us
            )
            VALUES (
                1, date_trunc('minute', now()) - \(minutesAgo) * interval '1 min', gen_random_uuid(), \(answers),
                \(evidence == .gone ? against : 0), \(evidence == .foreign ? against : 0)
            )
            """)
    }

    /// As if these answers had come so long ago.
    func age(_ subscribers: [Int64], minutes: Int32) async throws {
        _ = try await client.query(
            """
            WITH aged AS (
                UPDATE pushfleet.token_change SET at = at - \(minutes) * interval '1 min'
                WHERE subscriber_id = ANY (\(subscribers))
            )
            UPDATE pushfleet.subscriber SET state_since = state_since - \(minutes) * interval '1 min'
            WHERE id = ANY (\(subscribers))
            """)
    }

    /// Imports the lines as the command does.
    func importCSV(_ text: String) async throws {
        var lines = SubscriberImport(format: .csv, check: SubscriberCheck { _ in true })
        lines.feed(Array(text.utf8))
        lines.finish()
        var session = try await admin.beginImport(app: "ferry")
        while let item = try lines.next() {
            guard case .subscriber(let subscriber) = item else {
                Issue.record("a line was refused")
                return
            }
            _ = try await session.take([subscriber][...])
        }
    }
}

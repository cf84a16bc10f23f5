import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(5))) struct QuietHoursTests {
    struct Night: Sendable, CustomTestStringConvertible {
        var zone: String?
        var hours: String
        var at: String
        /// nil = nobody sleeps.
        var end: String?
        var testDescription: String { "\(zone ?? "-") \(hours) \(at)" }

        init(_ zone: String?, _ hours: String, _ at: String, _ end: String?) {
            self.zone = zone
            self.hours = hours
            self.at = at
            self.end = end
        }
    }

    /// Zones of 2027. Berlin's clocks jump from 2 to 3 at 01:00Z on March 28 and back at 01:00Z on October 31; Havana's at
    /// midnight on March 14 and from 1 to 0 on November 7; Lord Howe's by half an hour on October 3.
    static let nights = [
        Night("Europe/Lisbon", "22:00-08:00", "2027-01-15T21:59:59Z", nil),
        Night("Europe/Lisbon", "22:00-08:00", "2027-01-15T22:00:00Z", "2027-01-16T08:00:00Z"),
        Night("Europe/Lisbon", "22:00-08:00", "2027-01-16T07:59:59Z", "2027-01-16T08:00:00Z"),
        Night("Europe/Lisbon", "22:00-08:00", "2027-01-16T08:00:00Z", nil),
        Night("Asia/Kolkata", "13:00-15:00", "2027-05-05T08:00:00Z", "2027-05-05T09:30:00Z"),
        Night("Asia/Kolkata", "13:00-15:00", "2027-05-05T07:29:59Z", nil),
        Night("Pacific/Kiritimati", "22:00-08:00", "2027-05-05T09:00:00Z", "2027-05-05T18:00:00Z"),
        // A night that is an hour shorter, and one that is longer.
        Night("Europe/Berlin", "22:00-08:00", "2027-03-27T22:00:00Z", "2027-03-28T06:00:00Z"),
        Night("Europe/Berlin", "22:00-08:00", "2027-10-30T21:00:00Z", "2027-10-31T07:00:00Z"),
        // The end is jumped over: the first instant after the jump.
        Night("Europe/Berlin", "22:00-02:30", "2027-03-28T00:30:00Z", "2027-03-28T01:00:00Z"),
        Night("Europe/Berlin", "22:00-02:30", "2027-03-28T01:00:00Z", nil),
        // The end comes twice: the first counts.
        Night("Europe/Berlin", "22:00-02:30", "2027-10-31T00:10:00Z", "2027-10-31T00:30:00Z"),
        Night("Europe/Berlin", "22:00-02:30", "2027-10-31T01:10:00Z", nil),
        // So does the beginning.
        Night("Europe/Berlin", "02:30-04:00", "2027-10-31T00:29:59Z", nil),
        Night("Europe/Berlin", "02:30-04:00", "2027-10-31T00:45:00Z", "2027-10-31T03:00:00Z"),
        Night("Europe/Berlin", "02:30-04:00", "2027-10-31T01:10:00Z", "2027-10-31T03:00:00Z"),
        Night("Europe/Berlin", "02:30-04:00", "2027-03-28T00:59:59Z", nil),
        Night("Europe/Berlin", "02:30-04:00", "2027-03-28T01:00:00Z", "2027-03-28T02:00:00Z"),
        // Hours that are jumped over whole.
        Night("Europe/Berlin", "02:10-02:50", "2027-03-28T01:00:00Z", nil),
        Night("Australia/Lord_Howe", "22:00-08:00", "2027-10-02T13:00:00Z", "2027-10-02T21:00:00Z"),
        // Clocks that jump over midnight, and go back over it.
        Night("America/Havana", "00:00-06:00", "2027-03-14T05:00:00Z", "2027-03-14T10:00:00Z"),
        Night("America/Havana", "22:00-00:30", "2027-11-07T04:20:00Z", "2027-11-07T04:30:00Z"),
        Night("America/Havana", "22:00-00:30", "2027-11-07T05:10:00Z", nil),
        // Zones that nobody knows are the app's, here Tokyo.
        Night(nil, "22:00-08:00", "2027-05-05T14:00:00Z", "2027-05-05T23:00:00Z"),
        Night("Mars/Base", "22:00-08:00", "2027-05-05T14:00:00Z", "2027-05-05T23:00:00Z"),
        Night("XYZ-9", "22:00-08:00", "2027-05-05T12:59:59Z", nil),
    ]

    @Test func `quiet hours are those of each zone's own clock, over every change of it`() async throws {
        try await TemporaryDatabase.run { database in
            try await database.withClient { client in
                for night in Self.nights {
                    let hours = try #require(QuietHours(night.hours))
                    let found = try await client.query(
                        """
                        SELECT to_char(pushfleet.quiet_end(
                            \(night.at)::text::timestamptz, \(night.zone), 'Asia/Tokyo', \(hours.from)::text::time,
                            \(hours.until)::text::time
                        ) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                        """)[0].stringOrNil(0)
                    #expect(found == night.end, "\(night)")
                }
            }
        }
    }

    /// At 22:30 in Greenwich it is 23:30 in Lisbon, 18:30 in New York and 07:30 in Tokyo.
    private func settle(_ queue: QueueFixture, _ policy: QuietHours.Policy = .deferred) async throws {
        let zones: [String?] = ["Europe/Lisbon", "America/New_York", "Asia/Tokyo", nil]
        _ = try await queue.client.query(
            "UPDATE pushfleet.subscriber SET time_zone = (\(zones)::text[])[(id - 1) % 4 + 1]")
        var change = LimitChange()
        change.quietHours = .value(try #require(QuietHours("22:00-08:00")))
        change.inQuietHours = policy
        _ = try await queue.admin.setLimits(ofApp: "ferry", change)
    }

    private static let evening = #"{"at": "2031-07-01T22:30:00Z", "audienceAt": "schedule"}"#

    private func waves(_ queue: QueueFixture) async throws -> [String] {
        try await queue.texts(
            """
            SELECT to_char(b.due_at AT TIME ZONE 'UTC', 'MM-DD"T"HH24:MI ') || sum(b.size) || ' ' || min(b.state)
            FROM pushfleet.batch b
            GROUP BY b.due_at
            ORDER BY b.due_at
            """)
    }

    @Test func `whom a campaign would wake waits in batches of its own until the night is over`() async throws {
        try await QueueFixture.run(subscribers: 40) { queue in
            try await settle(queue)
            let body = queue.campaign(schedule: Self.evening)
            let plan = try await queue.admin.plan(
                try CampaignFile.parse(Array(body.utf8), mode: .strict), exact: true)
            let created = try await queue.create(body)
            try await queue.expand(Run.ID(created.run), pageSize: 17)
            #expect(
                try await waves(queue)
                    == ["07-01T22:30 10 5", "07-01T23:00 10 5", "07-02T07:00 10 5", "07-02T08:00 10 5"])
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.retry") == 0)
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.batch WHERE expires_at <> due_at + interval '28 d'") == 0)
            #expect(plan.deferred == 30 && plan.sent == 40 && plan.waves.map(\.subscribers) == [10, 10, 10, 10])
            #expect(plan.policies.contains("quietHours: 22:00-08:00, defer"))
        }
    }

    @Test func `a campaign says whether those who sleep are skipped, or does not care`() async throws {
        try await QueueFixture.run(subscribers: 40) { queue in
            try await settle(queue)
            let skipping = queue.campaign(schedule: Self.evening, #""delivery": {"quietHours": "skip"}"#)
            let plan = try await queue.admin.plan(
                try CampaignFile.parse(Array(skipping.utf8), mode: .strict), exact: true)
            let run = Run.ID(try await queue.create(skipping).run)
            try await queue.expand(run)
            #expect(
                try await queue.texts(
                    "SELECT reason.name FROM pushfleet.delivery JOIN pushfleet.reason ON code = reason GROUP BY 1")
                    == ["quiet_hours"])
            #expect(try await queue.accounting(run).skipped == 30)
            #expect(plan.skipped.map(\.name) == ["quiet_hours"] && plan.skipped[0].subscribers == 30)
            let loud = queue.campaign(
                schedule: Self.evening, #""delivery": {"bypass": {"rules": ["quiet_hours"], "reason": "storm"}}"#)
            let other = Run.ID(try await queue.create(loud).run)
            try await queue.expand(other)
            #expect(try await queue.accounting(other).pending == 40)
            #expect(
                try await queue.count(
                    """
                    SELECT count(*) FROM pushfleet.batch
                    WHERE run_id = \(other.rawValue) AND due_at <> '2031-07-01T22:30:00Z'
                    """) == 0)
        }
    }

    @Test func `an hour of the subscriber's own that lies in the night is moved to its end`() async throws {
        try await QueueFixture.run(subscribers: 4) { queue in
            try await settle(queue)
            let created = try await queue.create(
                queue.campaign(schedule: #"{"local": "2031-07-01T06:00", "audienceAt": "schedule"}"#))
            try await queue.expand(Run.ID(created.run))
            #expect(
                try await waves(queue)
                    == ["06-30T23:00 1 5", "07-01T07:00 1 5", "07-01T08:00 1 5", "07-01T12:00 1 5"])
        }
    }

    /// Quiet hours of everybody without a zone, from an hour ago until two hours from now.
    private func fallAsleep(_ queue: QueueFixture, _ policy: QuietHours.Policy = .deferred) async throws {
        _ = try await queue.client.query(
            """
            UPDATE pushfleet.app
            SET quiet_from = (now() AT TIME ZONE 'UTC' - interval '1 h')::time(0),
                quiet_until = (now() AT TIME ZONE 'UTC' + interval '2 h')::time(0), quiet_policy = \(policy.code)
            """)
    }

    @Test func `a batch that comes late is looked at once more, and moves as a whole`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            try await fallAsleep(queue)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            #expect(batch.terms.isLimited)
            let withheld = try await queue.batches.reserve(batch, worker: worker)
            #expect(withheld.count == 10)
            let wait = try #require(withheld[0]?.wait)
            #expect(withheld.values.allSatisfy { $0 == Withheld(reason: .quietHours, wait: wait) })
            #expect((Duration.seconds(7190)...Duration.seconds(7201)).contains(wait))
            try await queue.batches.handBack(batch, begun: 0, notBefore: wait, worker: worker)
            #expect(try await waves(queue).count == 1)
            #expect(
                try await queue.count(
                    """
                    SELECT count(*) FROM pushfleet.batch
                    WHERE state = 5 AND due_at BETWEEN now() + interval '1:59' AND now() + interval '2:01'
                    """) == 1)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.retry") == 0)
            #expect(try await queue.schedule.promote(shard: queue.shard, limit: 10) == 0)
            // The night is over.
            _ = try await queue.client.query("UPDATE pushfleet.app SET quiet_from = NULL, quiet_until = NULL")
            _ = try await queue.client.query("UPDATE pushfleet.batch SET due_at = now()")
            #expect(try await queue.schedule.promote(shard: queue.shard, limit: 10) == 1)
            #expect(try await queue.drain(run) == 1)
        }
    }

    @Test func `of a batch with people of several zones those who sleep wait alone`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            // Twelve hours off: their day.
            _ = try await queue.client.query(
                "UPDATE pushfleet.subscriber SET time_zone = 'Etc/GMT+12' WHERE id > 4")
            let run = try await queue.makeExpandedRun(ttl: .seconds(14_400))
            try await fallAsleep(queue)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let withheld = try await queue.batches.reserve(batch, worker: worker)
            #expect(withheld.keys.sorted() == [0, 1, 2, 3])
            // Another holder's, or an earlier one's: nobody's.
            let stranger = try await queue.hire()
            #expect(try await queue.batches.reserve(batch, worker: stranger).isEmpty)
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            try await queue.flush(batch, worker, jobs, as: .delivered) { item in
                guard let wait = withheld[item.ordinal]?.wait else { return }
                (item.outcome, item.reason, item.wait, item.free) = (nil, .quietHours, wait, true)
                item.attempts = 0
            }
            #expect(try await queue.accounting(run).delivered == 6)
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.retry WHERE due_at > now() + interval '1:59' AND attempts = 0") == 4
            )
        }
    }

    @Test func `what a policy of skipping meets in the night is skipped`() async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            let run = try await queue.makeExpandedRun()
            try await fallAsleep(queue, .skip)
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let withheld = try await queue.batches.reserve(batch, worker: worker)
            #expect(withheld.values.allSatisfy { $0 == Withheld(reason: .quietHours, wait: nil) })
            #expect(withheld.count == 3)
        }
    }

    @Test func `a single notification waits for the morning, unless it says that it will not`() async throws {
        try await QueueFixture.run(subscribers: 2) { queue in
            try await fallAsleep(queue)
            let loud = #"{"bypass": {"rules": ["quiet_hours"], "reason": "gate change"}}"#
            for (user, options) in [("u1", "{}"), ("u2", loud)] {
                _ = try await queue.client.query(
                    """
                    SELECT pushfleet.notify(
                        'ferry', jsonb_build_object('externalId', \(user)::text),
                        '{"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}}', \(PostgresJSON(options)))
                    """)
            }
            #expect(
                try await queue.texts(
                    """
                    SELECT subscriber_id || CASE WHEN due_at > now() + interval '1:59' THEN ' later' ELSE ' now' END
                    FROM pushfleet.notification
                    ORDER BY subscriber_id
                    """) == ["1 later", "2 now"])
            let worker = try await queue.hire()
            let collected = try await queue.lane.collect(
                shard: queue.shard, worker: worker, claimNumber: 1, limit: 100)
            let batch = try #require(collected.first?.batch)
            #expect(collected.count == 1 && batch.size == 1 && batch.terms.isLimited)
            #expect(try await queue.batches.reserve(batch, worker: worker).isEmpty)
        }
    }
}

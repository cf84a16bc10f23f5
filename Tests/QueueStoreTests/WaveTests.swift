import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(5))) struct WaveTests {
    /// Subscribers 1 to 8 live in these zones, or say so.
    private static let zones: [String?] = [
        "Pacific/Kiritimati", "Europe/Lisbon", "europe/lisbon", "America/New_York", nil, "Mars/Base", "XYZ-9", "",
    ]

    private func settle(_ queue: QueueFixture) async throws {
        let zones = Self.zones
        _ = try await queue.client.query("UPDATE pushfleet.app SET time_zone = 'Asia/Tokyo'")
        _ = try await queue.client.query(
            """
            UPDATE pushfleet.subscriber s
            SET time_zone = given.zone
            FROM unnest(\(zones)) WITH ORDINALITY AS given (zone, id)
            WHERE s.id = given.id
            """)
    }

    /// `id:instant` of each job, `id:reason` of each skip.
    private func fates(_ queue: QueueFixture) async throws -> [String] {
        try await queue.texts(
            """
            SELECT j.number || ' ' || to_char(b.due_at AT TIME ZONE 'UTC', 'MM-DD"T"HH24:MI')
            FROM pushfleet.job j
            JOIN pushfleet.batch b ON b.id = j.batch_id
            UNION ALL
            SELECT d.number || ' ' || reason.name
            FROM pushfleet.delivery d
            JOIN pushfleet.reason ON reason.code = d.reason
            ORDER BY 1
            """)
    }

    @Test func `each zone has its own wave, and a zone that nobody knows is the app's`() async throws {
        try await QueueFixture.run(subscribers: 8) { queue in
            try await settle(queue)
            let created = try await queue.create(
                queue.campaign(schedule: #"{"local": "2031-07-01T09:00", "audienceAt": "schedule"}"#))
            try await queue.expand(Run.ID(created.run), pageSize: 3)
            #expect(
                try await fates(queue) == [
                    "1 06-30T19:00", "2 07-01T08:00", "3 07-01T08:00", "4 07-01T13:00", "5 07-01T00:00",
                    "6 07-01T00:00", "7 07-01T00:00", "8 07-01T00:00",
                ])
            #expect(
                try await queue.texts(
                    "SELECT to_char(due_at AT TIME ZONE 'UTC', 'MM-DD\"T\"HH24:MI') FROM pushfleet.run")
                    == ["06-30T19:00"])
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.batch WHERE expires_at <> due_at + interval '28 d'") == 0)
        }
    }

    @Test func `subscribers without a valid zone can be skipped`() async throws {
        try await QueueFixture.run(subscribers: 8) { queue in
            try await settle(queue)
            let created = try await queue.create(
                queue.campaign(
                    schedule: #"{"local": "2031-07-01T09:00", "missingZone": "skip", "audienceAt": "schedule"}"#))
            try await queue.expand(Run.ID(created.run))
            #expect(
                try await fates(queue).suffix(4) == [
                    "5 no_time_zone", "6 no_time_zone", "7 no_time_zone", "8 no_time_zone",
                ])
        }
    }

    @Test(arguments: [
        ("send_now", ["1 now", "2 later", "4 later"]), ("skip", ["1 hour_past", "2 later", "4 later"]),
        ("next_day", ["1 next day", "2 later", "4 later"]),
    ])
    func `an hour that has passed in a zone is sent now, skipped or put off by a day`(
        policy: String, expected: [String]
    ) async throws {
        try await QueueFixture.run(subscribers: 8) { queue in
            try await settle(queue)
            _ = try await queue.client.query("DELETE FROM pushfleet.subscriber WHERE id NOT IN (1, 2, 4)")
            // Now is between Kiritimati's hour, fourteen before Greenwich's, and the others'.
            let wall = try await queue.texts(
                "SELECT to_char((now() + interval '6 h') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI')")[0]
            let created = try await queue.create(
                queue.campaign(schedule: #"{"local": "\#(wall)", "pastLocal": "\#(policy)"}"#))
            try await queue.expand(Run.ID(created.run))
            let found = try await queue.texts(
                """
                SELECT j.number || CASE
                    WHEN b.due_at <= now() THEN ' now'
                    WHEN j.number = 1 AND b.due_at > now() + interval '14 h' THEN ' next day'
                    ELSE ' later'
                END
                FROM pushfleet.job j
                JOIN pushfleet.batch b ON b.id = j.batch_id
                UNION ALL
                SELECT d.number || ' ' || reason.name
                FROM pushfleet.delivery d
                JOIN pushfleet.reason ON reason.code = d.reason
                ORDER BY 1
                """)
            #expect(found == expected)
        }
    }

    @Test func `a zone that the server lost breaks no page`() async throws {
        try await QueueFixture.run(subscribers: 8) { queue in
            try await settle(queue)
            _ = try await queue.client.query("INSERT INTO pushfleet.time_zone VALUES ('mars/base', 'Mars/Base')")
            let body = queue.campaign(schedule: #"{"local": "2031-07-01T09:00", "audienceAt": "schedule"}"#)
            // What a run is made of knows only zones that are there; the page meets the lost one.
            _ = try await queue.client.query("DELETE FROM pushfleet.time_zone WHERE key = 'mars/base'")
            let run = Run.ID(try await queue.create(body).run)
            _ = try await queue.client.query("INSERT INTO pushfleet.time_zone VALUES ('mars/base', 'Mars/Base')")
            try await queue.expand(run)
            #expect(try await fates(queue)[5] == "6 07-01T00:00")
            try await queue.schedule.refreshTimeZones()
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.time_zone WHERE key = 'mars/base'") == 0)
        }
    }

    @Test func `audienceAt says when the audience is decided and up to when registrations count`() async throws {
        try await QueueFixture.run(subscribers: 8) { queue in
            let later = #""at": "2031-07-01T09:00:00Z""#
            try await queue.create(queue.campaign(schedule: "{\(later), \"audienceAt\": \"schedule\"}"))
            try await queue.create(queue.campaign(schedule: "{\(later)}"))
            #expect(
                try await queue.texts(
                    """
                    SELECT (expand_at <= now())::text || (audience_as_of <= now())::text || (due_at > now())::text
                    FROM pushfleet.run
                    ORDER BY id
                    """) == ["truetruetrue", "falsefalsetrue"])
        }
    }
}

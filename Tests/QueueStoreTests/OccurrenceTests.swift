import Domain
import Postgres
import TestSupport
import Testing

@testable import QueueStore

@Suite(.timeLimit(.minutes(5))) struct OccurrenceTests {
    private func recurring(_ queue: QueueFixture, _ policies: String = "", cron: String = "0 * * * *") async throws
        -> Int64
    {
        let body = queue.campaign(schedule: #"{"cron": "\#(cron)", "zone": "Europe/Lisbon"\#(policies)}"#)
        return try await queue.create(body).campaign
    }

    /// As if nothing had run for so long.
    private func missHours(_ queue: QueueFixture, _ hours: Int32) async throws {
        _ = try await queue.client.query(
            "UPDATE pushfleet.campaign SET next_at = date_trunc('hour', now()) - \(hours) * interval '1 h'")
    }

    private func runs(_ queue: QueueFixture) async throws -> [Int64] {
        try await queue.client.query(
            """
            SELECT (extract(epoch FROM date_trunc('hour', now()) - occurrence_at) / 3600)::bigint
            FROM pushfleet.run
            ORDER BY occurrence_at
            """
        ).map { $0.int64(0) }
    }

    @Test func `schedulers that race make one run of each occurrence`() async throws {
        try await QueueFixture.run { queue in
            _ = try await recurring(queue, #", "missed": "all", "overlap": "allow""#)
            try await missHours(queue, 30)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await queue.schedule.beginOccurrences().begun }
                }
                var begun = 0
                for try await count in group { begun += count }
                #expect(begun == 31)
            }
            #expect(try await runs(queue) == (0...30).reversed())
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.campaign WHERE next_at > now()") == 1)
            #expect(try await queue.schedule.beginOccurrences() == BegunOccurrences())
            await #expect(throws: PostgresError.self) {
                try await queue.client.query(
                    "INSERT INTO pushfleet.run (app_id, campaign_id, occurrence_at) SELECT 1, campaign_id, occurrence_at FROM pushfleet.run LIMIT 1"
                )
            }
        }
    }

    @Test func `missed occurrences are passed over, or caught up by the latest`() async throws {
        try await QueueFixture.run { queue in
            let campaign = try await recurring(queue)
            _ = try await queue.client.query(
                "UPDATE pushfleet.campaign SET next_at = now() - interval '90 min', body = jsonb_set(body, '{schedule,cron}', '\"0 0 1 1 *\"')"
            )
            #expect(try await queue.schedule.beginOccurrences().begun == 0)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.campaign WHERE next_at > now()") == 1)
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.campaign
                SET next_at = now() - interval '90 min', body = jsonb_set(body, '{schedule,missed}', '"latest"')
                WHERE id = \(campaign)
                """)
            #expect(try await queue.schedule.beginOccurrences().begun == 1)
        }
    }

    @Test func `of thousands of missed occurrences only the last is begun`() async throws {
        try await QueueFixture.run { queue in
            _ = try await recurring(queue, #", "missed": "latest""#, cron: "*/10 * * * *")
            _ = try await queue.client.query(
                "UPDATE pushfleet.campaign SET next_at = date_trunc('hour', now()) - interval '20 d'")
            let begun = try await queue.schedule.beginOccurrences()
            #expect(begun.begun == 1 && begun.passedOver >= 2880)
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.run WHERE occurrence_at > now() - interval '10 min'") == 1)
        }
    }

    @Test func `an occurrence that overlaps is skipped, queued or allowed`() async throws {
        for (overlap, expected) in [("skip", 1), ("queue", 2), ("allow", 2)] as [(String, Int64)] {
            try await QueueFixture.run { queue in
                _ = try await recurring(queue, #", "overlap": "\#(overlap)", "missed": "latest""#)
                try await missHours(queue, 1)
                _ = try await queue.client.query("UPDATE pushfleet.campaign SET next_at = date_trunc('hour', now())")
                _ = try await queue.schedule.beginOccurrences()
                _ = try await queue.client.query(
                    "UPDATE pushfleet.run SET occurrence_at = occurrence_at - interval '1 h'")
                _ = try await queue.client.query("UPDATE pushfleet.campaign SET next_at = date_trunc('hour', now())")
                _ = try await queue.schedule.beginOccurrences()
                #expect(try await queue.count("SELECT count(*) FROM pushfleet.run") == expected)
                let ready = try await queue.schedule.unexpandedRuns(of: queue.shard).count
                #expect(ready == (overlap == "allow" ? 2 : 1))
                guard overlap == "queue" else { return }
                // The first one ends: the second begins.
                #expect(try await queue.schedule.beginOccurrences().released == 0)
                let first = Run.ID(try await queue.count("SELECT min(id) FROM pushfleet.run"))
                try await queue.expand(first)
                try await queue.drain(first)
                _ = try await queue.client.query("UPDATE pushfleet.run_route SET head = NULL")
                #expect(try await queue.housekeeping.closeRuns() == 1)
                #expect(try await queue.schedule.beginOccurrences().released == 1)
                #expect(try await queue.schedule.unexpandedRuns(of: queue.shard).count == 1)
            }
        }
    }

    @Test func `a campaign whose segment is gone says so, holds up no other, and goes on when mended`()
        async throws
    {
        try await QueueFixture.run { queue in
            try await queue.admin.setSegment("regulars", app: "ferry", to: .all)
            let schedule = #"{"cron": "0 * * * *", "zone": "UTC", "missed": "latest", "overlap": "allow"}"#
            let bad = try await queue.create(
                queue.campaign(audience: #"{"segment": "regulars"}"#, schedule: schedule)
            ).campaign
            let good = try await queue.create(queue.campaign(schedule: schedule)).campaign
            _ = try await queue.client.query("DELETE FROM pushfleet.segment")
            try await missHours(queue, 2)
            #expect(try await queue.schedule.beginOccurrences().begun == 1)
            #expect(try await queue.count("SELECT campaign_id FROM pushfleet.run") == good)
            #expect(
                try await queue.texts(
                    "SELECT problems -> 0 ->> 'message' FROM pushfleet.campaign WHERE id = \(bad) AND next_at > now()"
                ).first?.contains("'regulars'") == true)
            try await queue.admin.setSegment("regulars", app: "ferry", to: .all)
            _ = try await queue.client.query(
                "UPDATE pushfleet.campaign SET next_at = now() - interval '1 s' WHERE id = \(bad)")
            #expect(try await queue.schedule.beginOccurrences().begun == 1)
            #expect(
                try await queue.count(
                    "SELECT count(*) FROM pushfleet.campaign WHERE problems IS NULL AND next_at > now()") == 2)
        }
    }

    @Test func `a campaign that the database refuses holds up no other, and is named`() async throws {
        try await QueueFixture.run { queue in
            let bad = try await recurring(queue, #", "missed": "latest", "overlap": "allow""#)
            let good = try await recurring(queue, #", "missed": "latest", "overlap": "allow""#)
            try await missHours(queue, 1)
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.campaign
                SET next_at = next_at - interval '1 h', body = jsonb_set(body, '{schedule,zone}', '"Mars/Base"')
                WHERE id = \(bad)
                """)
            let error = await #expect(throws: (any Error).self) { try await queue.schedule.beginOccurrences() }
            #expect("\(try #require(error))".hasPrefix("campaign \(bad): "))
            #expect(try await queue.count("SELECT campaign_id FROM pushfleet.run") == good)
        }
    }

    @Test func `a recurring campaign that is over goes on when its schedule says so, and not without an occurrence`()
        async throws
    {
        try await QueueFixture.run { queue in
            let campaign = Campaign.ID(try await recurring(queue))
            #expect(try await queue.control.end(campaign))
            for (end, state) in [("2020-01-01T00:00:00Z", 3), ("2099-01-01T00:00:00Z", 1)] as [(String, Int64)] {
                let schedule = #"{"cron": "0 * * * *", "zone": "Europe/Lisbon", "end": "\#(end)"}"#
                let body = queue.campaign(title: "New", schedule: schedule)
                let file = try CampaignFile.parse(Array(body.utf8), mode: .strict)
                if state == 3 {
                    await #expect(throws: AdminError.self) {
                        try await queue.admin.editCampaign(campaign, file, body: body)
                    }
                } else {
                    #expect(try await queue.admin.editCampaign(campaign, file, body: body).revision == 2)
                }
                #expect(
                    try await queue.count(
                        "SELECT state::bigint FROM pushfleet.campaign WHERE (next_at > now()) = (state = 1) IS NOT FALSE"
                    )
                        == state)
            }
        }
    }

    @Test func `by its name a recurring campaign ends, between occurrences and with the one that sends`() async throws {
        try await QueueFixture.run { queue in
            for sends in [false, true] {
                _ = try await recurring(queue, #", "missed": "latest""#)
                if sends {
                    _ = try await queue.client.query(
                        "UPDATE pushfleet.campaign SET next_at = date_trunc('hour', now()) WHERE state = 1")
                    #expect(try await queue.schedule.beginOccurrences().begun == 1)
                }
                await #expect(throws: AdminError.self) {
                    try await queue.control.cancel(named: "Winter", app: "bus")
                }
                let (ended, runs) = try await queue.control.cancel(named: "Winter", app: nil)
                #expect(ended.count == 1 && runs.count == (sends ? 1 : 0))
                #expect(
                    try await queue.count("SELECT count(*) FROM pushfleet.campaign WHERE next_at IS NULL AND state = 3")
                        == (sends ? 2 : 1))
                await #expect(throws: AdminError.self) {
                    try await queue.control.cancel(named: "Winter", app: nil)
                }
            }
        }
    }

    @Test func `nothing is due before the start or after the end, and then the campaign is over`() async throws {
        try await QueueFixture.run { queue in
            let campaign = try await recurring(
                queue, #", "start": "2031-01-01T10:00:00Z", "end": "2031-01-01T11:30:00Z""#)
            #expect(
                try await queue.texts(
                    "SELECT to_char(next_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') FROM pushfleet.campaign")
                    == ["2031-01-01 10:00"])
            _ = try await queue.client.query(
                """
                UPDATE pushfleet.campaign
                SET next_at = now(), body = jsonb_set(body, '{schedule}', (body -> 'schedule') - 'start' || '{"end": "2020-01-01T00:00:00Z"}'::jsonb)
                WHERE id = \(campaign)
                """)
            #expect(try await queue.schedule.beginOccurrences().begun == 1)
            #expect(try await queue.count("SELECT state::bigint FROM pushfleet.campaign") == 3)
            await #expect(throws: ContentProblems.self) {
                try await recurring(queue, #", "end": "2020-01-01T00:00:00Z""#)
            }
            await #expect(throws: ContentProblems.self) {
                try await queue.create(queue.campaign(schedule: #"{"cron": "0 9 * * *", "zone": "Mars/Base"}"#))
            }
        }
    }
}

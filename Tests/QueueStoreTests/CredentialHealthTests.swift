import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// What is known of a credential besides its state: when it last succeeded, and until when its token is good.
@Suite(.timeLimit(.minutes(1))) struct CredentialHealthTests {
    private static func count(_ queue: QueueFixture, _ minutes: (ago: Int64, answers: Int64, gone: Int64)...)
        async throws
    {
        for minute in minutes {
            _ = try await queue.client.query(
                """
                INSERT INTO pushfleet.answer_minute (credential_id, at_minute, worker_id, answers, gone, foreign_to_us)
                SELECT id, timestamptz '2024-05-06 07:08Z' - \(PostgresInterval(.seconds(minute.ago * 60))), gen_random_uuid(),
                    \(minute.answers), \(minute.gone), 0
                FROM pushfleet.credential
                """)
        }
    }

    private static func minutesSinceSuccess(_ queue: QueueFixture) async throws -> Int64? {
        try await queue.client.query(
            """
            SELECT round(extract(epoch FROM timestamptz '2024-05-06 07:08Z' - last_success_at) / 60)::bigint
            FROM pushfleet_report.credentials
            """)[0].int64OrNil(0)
    }

    @Test func `the last success outlives the counts that it was read from`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            #expect(try await Self.minutesSinceSuccess(queue) == nil)
            let week: Int64 = 7 * 24 * 60
            // Of the newest, every answer called the address dead: no success.
            try await Self.count(queue, (week + 90, 5, 0), (week + 60, 5, 1), (week + 30, 5, 5))
            #expect(try await Self.minutesSinceSuccess(queue) == week + 60)
            _ = try await queue.housekeeping.clearTokens(grace: .seconds(60))
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.answer_minute") == 0)
            #expect(try await Self.minutesSinceSuccess(queue) == week + 60)
            try await Self.count(queue, (3, 1, 0))
            #expect(try await Self.minutesSinceSuccess(queue) == 3)
            _ = try await queue.housekeeping.clearTokens(grace: .seconds(60))
            #expect(try await Self.minutesSinceSuccess(queue) == 3)
        }
    }

    @Test func `the fleet's token tells until when it is good, and nothing more`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            #expect(try await queue.admin.credentials(app: "ferry").map(\.tokenExpiresAt) == [nil])
            let tokens = PostgresAccessTokenStore(client: queue.client)
            let now = try await tokens.now()
            let credential = Credential.ID(try await queue.count("SELECT id FROM pushfleet.credential"))
            let worker = WorkerID(UUID().uuidString)
            #expect(
                try await tokens.beginRefresh(credential: credential, by: worker, for: .seconds(30), replacing: nil))
            // Asked for, and not there yet.
            #expect(try await queue.admin.credentials(app: "ferry").map(\.tokenExpiresAt) == [nil])
            try await tokens.store(
                SealedToken(sealed: [1, 2, 3], issuedAt: now, expiresAt: now + .seconds(3000)), credential: credential,
                by: worker)
            let listed = try #require(try await queue.admin.credentials(app: "ferry").first)
            #expect(listed.tokenExpiresAt?.hasSuffix("Z") == true && listed.lastSuccessAt == nil)
            let figures = try #require(
                try await PostgresGaugeStore(client: queue.client).figures().credentials.first)
            let left = try #require(figures.tokenSecondsLeft)
            #expect((2900...3000).contains(left) && figures.secondsSinceSuccess == nil)
            let columns = try await queue.client.query(
                """
                SELECT array_agg(attname::text ORDER BY attnum)
                FROM pg_attribute
                WHERE attrelid = 'pushfleet_report.credentials'::regclass
                """)[0].textArray(0)
            #expect(
                columns == [
                    "app", "credential", "transport", "state", "reason", "state_since", "last_success_at",
                    "token_expires_at",
                ])
        }
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct RouteFlowTests {
    private func rate(_ queue: QueueFixture, after span: String = "0 s") async throws -> Int32? {
        try await queue.client.query(
            """
            SELECT pushfleet.route_rate(rate, ramp, ramp_since, slow_rate, slow_until, now() + (\(span)::text)::interval)
            FROM pushfleet.route
            """)[0].int32OrNil(0)
    }

    @Test func `a 429 halves the coming seconds for all, once for all who saw it, and recovery is gradual`()
        async throws
    {
        try await QueueFixture.run(subscribers: 1) { queue in
            _ = try await queue.hire()
            _ = try await queue.hire()
            #expect(try await rate(queue) == nil)
            // Two workers live, the one that asks began 300 in a second.
            try await queue.batches.slow(queue.route, begun: 300, for: .seconds(20))
            try await queue.batches.slow(queue.route, begun: 300, for: .seconds(30))
            #expect(try await rate(queue) == 300)
            #expect(try await rate(queue, after: "29 s") == 300)
            #expect(try await rate(queue, after: "35.1 s") ?? 0 >= 600)
            #expect(try await rate(queue, after: "35.1 s") ?? 0 < 700)
            #expect(try await rate(queue, after: "40.1 s") ?? 0 >= 1200)
            #expect(try await rate(queue, after: "131 s") == nil)
            // Another one after that took effect.
            _ = try await queue.client.query("UPDATE pushfleet.route SET slowed_at = now() - interval '3 s'")
            try await queue.batches.slow(queue.route, begun: 300, for: .seconds(20))
            #expect(try await rate(queue) == 150)
            // It never rises above the route's own rate.
            try await queue.admin.setRate(ofCredential: "firebase", app: "ferry", perSecond: 400, ramp: .zero)
            #expect(try await rate(queue, after: "80 s") == 400)
        }
    }

    @Test func `a route with a timetable is slowed from what the fleet began`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            _ = try await queue.hire()
            _ = try await queue.client.query(
                """
                INSERT INTO pushfleet.rate_second (key, at_second, taken, granted)
                SELECT 'route:' || id, date_trunc('second', now()) + g * interval '1 s', 80, 80
                FROM pushfleet.route, generate_series(-2, 5) g
                """)
            try await queue.batches.slow(queue.route, begun: 10_000, for: .seconds(20))
            #expect(try await rate(queue) == 40)
        }
    }

    @Test(arguments: [(0, 1000), (10, 1666), (30, 5000), (59, 9833), (60, 10_000)])
    func `a route that was silent climbs to its rate within the ramp`(seconds: Int, expected: Int32) async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let run = try await queue.makeRun()
            try await queue.admin.setRate(ofCredential: "firebase", app: "ferry", perSecond: 10_000, ramp: nil)
            let pair = Pair(run: run, route: queue.route)
            _ = try await queue.batches.takeSlots(for: pair, wanted: 1, ahead: .milliseconds(250))
            let found = try await queue.client.query(
                """
                SELECT pushfleet.route_rate(
                    rate, ramp, ramp_since, slow_rate, slow_until, ramp_since + \(PostgresInterval(.seconds(seconds))))
                FROM pushfleet.route
                """)[0].int32(0)
            #expect(found == expected)
            // It was used within the minute: no new start.
            let since = try await queue.client.query("SELECT ramp_since::text FROM pushfleet.route")[0].string(0)
            _ = try await queue.batches.takeSlots(for: pair, wanted: 1, ahead: .milliseconds(250))
            #expect(try await queue.client.query("SELECT ramp_since::text FROM pushfleet.route")[0].string(0) == since)
        }
    }

    @Test func `an open breaker stops claims, tries again, waits longer, and ends in a ramp`() async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            let batch = try #require(try await queue.claim(run, worker))
            let first = try #require(try await queue.batches.trip(queue.route, reason: .fcmUnavailable))
            #expect(first > .seconds(3) && first <= .seconds(5))
            // Another worker saw it too.
            #expect(try await queue.batches.trip(queue.route, reason: .fcmUnavailable) == nil)
            #expect(try await queue.claim(run, worker, number: 2) == nil)
            #expect(try await queue.flush(batch, worker, [], as: nil).map(\.route) == [.paused])
            try await queue.batches.handBack(batch, begun: 0, notBefore: first, worker: worker)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.batch WHERE state = 5") == 1)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.retry") == 0)

            #expect(try await queue.schedule.reopenRoutes() == 0)
            func wait() async throws {
                _ = try await queue.client.query("UPDATE pushfleet.route SET reopen_at = now() - interval '1 s'")
                #expect(try await queue.schedule.reopenRoutes() == 1)
            }
            try await wait()
            #expect(try await queue.batches.route(queue.route)?.isOnTrial == true)
            #expect(try await queue.claim(run, worker, number: 3)?.terms.routeRate == 10)
            let second = try #require(try await queue.batches.trip(queue.route, reason: .connectionLost))
            #expect(second > .seconds(7) && second <= .seconds(10))
            try await wait()
            try await queue.batches.endTrial(of: queue.route)
            try await queue.batches.endTrial(of: queue.route)
            #expect(try await queue.batches.route(queue.route)?.isOnTrial == false)
            #expect(try await rate(queue) ?? 0 >= 100)
            #expect(try await rate(queue, after: "10.1 s") ?? 0 >= 400)
            let third = try #require(try await queue.batches.trip(queue.route, reason: .fcmUnavailable))
            #expect(third <= .seconds(5))
        }
    }

    @Test func `a credential fault outlasts a breaker, and a changed file opens all of it once`() async throws {
        try await QueueFixture.run(subscribers: 20) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            _ = try await queue.batches.trip(queue.route, reason: .fcmUnavailable)
            let fault = CredentialFault(
                reason: .fcmUnauthenticated, detail: "private_key: it was revoked", fingerprint: [1, 2, 3])
            try await queue.batches.pause(credential: Credential.ID(1), fault: fault)
            // The first fault stays.
            try await queue.batches.pause(credential: Credential.ID(1), reason: .fcmPermissionDenied)
            _ = try await queue.client.query(
                "UPDATE pushfleet.route SET reopen_at = now() - interval '1 s' WHERE reopen_at IS NOT NULL")
            #expect(try await queue.schedule.reopenRoutes() == 0)
            let listed = try #require(try await queue.admin.credentials(app: "ferry").first)
            #expect(listed.isPaused && listed.reason == "fcm_unauthenticated" && listed.remedy != nil)
            #expect(listed.detail == fault.detail)

            let paused = try #require(try await queue.batches.pausedCredentials().first)
            #expect(paused.faultFingerprint == [1, 2, 3] && paused.revision == 1)
            #expect(try await queue.batches.mend(paused))
            #expect(try await !queue.batches.mend(paused))
            let route = try #require(try await queue.batches.route(queue.route))
            #expect(route.state == .open && route.credential.revision == 2)
            #expect(route.credential.faultFingerprint == [1, 2, 3])
            #expect(try await queue.claim(run, worker) != nil)
            #expect(try await queue.batches.pausedCredentials().isEmpty)

            // By command the fault is forgotten: the mend may lie with the provider.
            try await queue.batches.pause(credential: Credential.ID(1), fault: fault)
            try await queue.admin.resumeCredential(app: "ferry", name: "firebase")
            #expect(try await queue.batches.route(queue.route)?.credential.faultFingerprint == nil)
        }
    }

    @Test func `a late fault of a credential that was mended meanwhile changes nothing`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            let first = CredentialFault(reason: .fcmUnauthenticated, fingerprint: [1], revision: 1)
            try await queue.batches.pause(credential: Credential.ID(1), fault: first)
            let paused = try #require(try await queue.batches.pausedCredentials().first)
            #expect(try await queue.batches.mend(paused))
            try await queue.batches.pause(
                credential: Credential.ID(1),
                fault: CredentialFault(reason: .fcmPermissionDenied, fingerprint: [2], revision: 1))
            let mended = try #require(try await queue.batches.route(queue.route))
            #expect(mended.state == .open && mended.credential.faultFingerprint == [1])
            #expect(try await queue.batches.pausedCredentials().isEmpty)
            try await queue.batches.pause(
                credential: Credential.ID(1),
                fault: CredentialFault(reason: .fcmPermissionDenied, fingerprint: [2], revision: 2))
            #expect(try await queue.batches.route(queue.route)?.state == .paused)
            #expect(try await queue.batches.pausedCredentials().map(\.faultFingerprint) == [[2]])
        }
    }

    @Test func `a retry remembers when its job was first tried`() async throws {
        try await QueueFixture.run(subscribers: 10) { queue in
            let run = try await queue.makeExpandedRun()
            let worker = try await queue.hire()
            var first: [Instant?] = []
            for number in 1...3 as ClosedRange<Int32> {
                let batch = try #require(try await queue.claim(run, worker, number: number))
                let jobs = try await queue.batches.jobs(of: batch, attributes: [])
                #expect(jobs.count == 10)
                first.append(jobs[0].firstAttemptAt)
                try await queue.flush(batch, worker, jobs, as: nil, answered: number) { item in
                    item.firstAttemptAt = jobs[0].firstAttemptAt
                    item.begunMillisecondsAgo = 5000
                }
                _ = try await queue.client.query("UPDATE pushfleet.retry SET due_at = now() - interval '2 s'")
                #expect(try await queue.schedule.rebatch(shard: queue.shard, limit: 500) == 10)
            }
            #expect(first[0] == nil && first[1] != nil && first[1] == first[2])
        }
    }
}

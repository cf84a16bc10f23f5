import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct WebPushCredentialTests {
    private static func add(_ name: String, key: String, to queue: QueueFixture) async throws {
        _ = try await queue.admin.addCredential(
            NewCredential(
                app: "ferry", name: name, transport: .webpush, file: "/etc/pushfleet/\(name).pem", endpoint: nil,
                facts: ["public_key": key, "contact": "mailto:push@ferry.example"]))
    }

    @Test func `a key opens a route for each push service`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            try await Self.add("web", key: "K1", to: queue)
            let rows = try await queue.client.query(
                "SELECT service FROM pushfleet.route WHERE transport = 3 ORDER BY service")
            #expect(rows.map { $0.int16(0) } == [1, 2, 3, 4, 5])
        }
    }

    @Test func `subscriptions stay with the key that signed for them when another is added`() async throws {
        try await QueueFixture.run(subscribers: 4) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET transport = 3, service = 1 WHERE id > 2")
            try await Self.add("old", key: "K1", to: queue)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE vapid_credential > 0") == 0)
            try await Self.add("new", key: "K2", to: queue)
            let tied = try await queue.client.query(
                """
                SELECT c.name FROM pushfleet.subscriber s JOIN pushfleet.credential c ON c.id = s.vapid_credential
                ORDER BY s.id
                """)
            #expect(tied.map { $0.string(0) } == ["old", "old"])
            let route = try #require(
                try await queue.batches.route(app: App.ID(1), transport: .webpush, service: 1))
            #expect(route.credential.name == "new")
            #expect(route.credential.facts["contact"] == "mailto:push@ferry.example")
            #expect(route.credential.others.map(\.file) == ["/etc/pushfleet/old.pem"])
            #expect(route.credential.others.map(\.facts["public_key"]) == ["K1"])
        }
    }

    @Test func `a name keeps its key, since subscriptions are known by it`() async throws {
        try await QueueFixture.run(subscribers: 1) { queue in
            try await Self.add("web", key: "K1", to: queue)
            await #expect(throws: AdminError.self) { try await Self.add("web", key: "K2", to: queue) }
            try await Self.add("web", key: "K1", to: queue)
            #expect(
                try await queue.client.query(
                    "SELECT facts ->> 'public_key' FROM pushfleet.credential WHERE name = 'web'"
                )
                .map { $0.string(0) } == ["K1"])
        }
    }

    @Test func `a silent push is skipped for browsers and goes to the rest`() async throws {
        try await QueueFixture.run(subscribers: 30) { queue in
            try await Self.add("web", key: "K1", to: queue)
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET transport = 3, service = 2 WHERE id > 20")
            let run = try await queue.makeRun()
            _ = try await queue.client.query(#"UPDATE pushfleet.content_version SET message = '{"silent": true}'"#)
            try await queue.expand(run)
            let accounting = try await queue.accounting(run)
            #expect(accounting.targeted == 30 && accounting.pending == 20 && accounting.skipped == 10)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.delivery WHERE reason = 7") == 10)
        }
    }

    @Test func `a job brings the key that its subscription names`() async throws {
        try await QueueFixture.run(subscribers: 2) { queue in
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET vapid_credential = 77 WHERE id = 2")
            let run = try await queue.makeExpandedRun()
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            let jobs = try await queue.batches.jobs(of: batch, attributes: [])
            #expect(jobs.map { $0.recipient?.address.vapidKey } == [nil, Credential.ID(77)])
        }
    }
}

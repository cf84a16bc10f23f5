import Domain
import Foundation
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

    @Test func `an import names the key that each browser subscribed with`() async throws {
        try await QueueFixture.run(subscribers: 0) { queue in
            let keys = [Self.point(1), Self.point(2)]
            try await Self.add("old", key: keys[0], to: queue)
            try await Self.add("new", key: keys[1], to: queue)
            // Named, unknown, and not named: the last two are the newest's, whichever that is.
            try await Self.take(["a": keys[0], "b": Self.point(3), "c": ""], into: queue)
            #expect(try await Self.names(queue) == ["a": "old", "b": nil, "c": nil])
            // The same subscription keeps its key until another is named, and is then tried again.
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET state = 4 WHERE external_id = 'a'")
            try await Self.take(["a": ""], into: queue)
            #expect(try await Self.names(queue)["a"] == "old")
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 4") == 1)
            try await Self.take(["a": keys[1]], into: queue)
            #expect(try await Self.names(queue)["a"] == "new")
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.subscriber WHERE state = 4") == 0)
        }
    }

    /// A key in base64url, as a browser is given it.
    private static func point(_ fill: UInt8) -> String {
        Data([4] + [UInt8](repeating: fill, count: 64)).base64EncodedString().filter { $0 != "=" }
    }

    /// - Parameter keys: by external id.
    private static func take(_ keys: [String: String], into queue: QueueFixture) async throws {
        var reader = SubscriberImport(format: .csv, check: SubscriberCheck { _ in true })
        let lines = keys.sorted { $0.key < $1.key }.map { id, key in
            "\(id),webpush,https://fcm.googleapis.com/fcm/send/\(id),\(point(9)),AAAAAAAAAAAAAAAAAAAAAA,\(key)\n"
        }
        reader.feed(Array(("external_id,transport,address,p256dh,auth,vapid_key\n" + lines.joined()).utf8))
        reader.finish()
        var subscribers: [ImportedSubscriber] = []
        while let item = try reader.next() {
            guard case .subscriber(let subscriber) = item else {
                Issue.record("\(item)")
                continue
            }
            subscribers.append(subscriber)
        }
        var session = try await queue.admin.beginImport(app: "ferry")
        #expect(try await session.take(subscribers[...]).refused.isEmpty)
    }

    /// The credential that each browser's subscription names, by external id.
    private static func names(_ queue: QueueFixture) async throws -> [String: String?] {
        let rows = try await queue.client.query(
            """
            SELECT s.external_id, c.name
            FROM pushfleet.subscriber s
            LEFT JOIN pushfleet.credential c ON c.id = s.vapid_credential
            WHERE s.transport = 3
            """)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.string(0), $0.stringOrNil(1)) })
    }
}

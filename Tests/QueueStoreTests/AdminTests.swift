import Domain
import Postgres
import QueueStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct AdminTests {
    private func file(key: String = #""k1""#, title: String = "Hi", extra: String = "") -> String {
        """
        {"app": "ferry", "name": "Winter", "idempotencyKey": \(key),
         "message": {"content": {"en": {"title": "\(title)", "body": "x"}, "_default": "en"}},
         "delivery": {"ttlSeconds": 3600, "inDoubt": "assume_sent", "collapseKey": "c"},
         "audience": {"all": true}, "schedule": {"at": "now"}, "queue": {"weight": 3}\(extra)}
        """
    }

    private func create(_ queue: QueueFixture, _ body: String) async throws -> CreatedCampaign {
        let campaign = try CampaignFile.parse(Array(body.utf8), mode: .strict)
        return try await queue.admin.createCampaign(campaign, body: body)
    }

    @Test func `the same key and file give the same campaign, another file is refused`() async throws {
        try await QueueFixture.run { queue in
            let first = try await create(queue, file())
            let again = try await create(queue, file())
            #expect(first.isNew && !again.isNew)
            #expect(again.campaign == first.campaign && again.run == first.run)
            let error = await #expect(throws: AdminError.self) { try await create(queue, file(title: "Other")) }
            #expect(error?.code == .keyTaken)
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.run") == 1)
        }
    }

    @Test func `a campaign's run is expanded, claimed and read with its content`() async throws {
        try await QueueFixture.run { queue in
            let created = try await create(queue, file())
            let run = Run.ID(created.run)
            #expect(try await queue.schedule.unexpandedRuns(of: queue.shard) == [run])
            try await queue.expand(run)
            let batch = try #require(try await queue.claim(run, try await queue.hire()))
            #expect(batch.policy == .assumeSent && batch.announceWindow == 100)
            let content = try await queue.batches.contentVersion(batch.contentVersion)
            #expect(content.delivery == DeliveryOptions(ttlSeconds: 3600, collapseKey: "c", inDoubt: .assumeSent))
            #expect(content.message.variants.map(\.language) == ["en"])
            #expect(try await queue.admin.runs(app: "ferry", limit: 5).map(\.name) == ["Winter"])
        }
    }

    @Test func `an import can be repeated, and a changed address is another address`() async throws {
        try await QueueFixture.run(subscribers: 0) { queue in
            func row(_ id: Int, address: String) -> ImportedSubscriber {
                var row = ImportedSubscriber(externalID: "u\(id)", transport: .fcm, address: address)
                row.tags = ["a", "b"]
                row.timeZone = id == 1 ? "Europe/Lisbon" : "Mars/Base"
                return row
            }
            let zones = try await queue.admin.timeZones()
            let rows = (1...50).map { row($0, address: "t\($0)") }
            let first = try await queue.admin.importSubscribers(rows + [rows[0]], app: "ferry", zones: zones)
            #expect(first.created == 50 && first.updated == 0)
            _ = try await queue.client.query("UPDATE pushfleet.subscriber SET state = 3")
            let changed = [row(1, address: "new"), row(2, address: "t2")]
            let second = try await queue.admin.importSubscribers(changed, app: "ferry", zones: zones)
            #expect(second.created == 0 && second.updated == 2)
            let found = try await queue.client.query(
                """
                SELECT state, address_version, time_zone, tags FROM pushfleet.subscriber
                WHERE external_id IN ('u1', 'u2') ORDER BY external_id
                """)
            #expect(found.map { $0.int16(0) } == [1, 3] && found.map { $0.int32(1) } == [2, 1])
            #expect(found[0].stringOrNil(2) == "Europe/Lisbon" && found[1].isNull(2))
            #expect(found[0].stringArray(3) == ["a", "b"])
            let error = await #expect(throws: AdminError.self) {
                try await queue.admin.importSubscribers(rows, app: "nobody", zones: zones)
            }
            #expect(error?.code == .unknownApp)
        }
    }

    @Test func `one worker refreshes a credential's token at a time`() async throws {
        try await QueueFixture.run { queue in
            let tokens = PostgresAccessTokenStore(client: queue.client)
            let credential = Credential.ID(1)
            let (one, two) = (try await queue.hire(), try await queue.hire())
            func begin(_ worker: WorkerID, _ seen: Instant?, for span: Duration = .seconds(30)) async throws -> Bool {
                try await tokens.beginRefresh(credential: credential, by: worker, for: span, replacing: seen)
            }
            #expect(try await tokens.sealedToken(credential: credential) == nil)
            #expect(try await begin(one, nil))
            #expect(try await begin(one, nil))
            #expect(try await !begin(two, nil))
            let now = try await tokens.now()
            let token = SealedToken(sealed: [1, 2, 3], issuedAt: now, expiresAt: now + .seconds(3600))
            try await tokens.store(token, credential: credential, by: one)
            #expect(try await tokens.sealedToken(credential: credential) == token)
            #expect(try await !begin(two, nil))
            #expect(try await begin(two, token.expiresAt, for: .seconds(-1)))
            #expect(try await begin(one, token.expiresAt))
        }
    }

    @Test func `every reason that a worker can write has its name in the database`() async throws {
        try await QueueFixture.run { queue in
            let rows = try await queue.client.query("SELECT code, name FROM pushfleet.reason ORDER BY code")
            #expect(rows.map { $0.int16(0) } == Reason.allCases.map(\.rawValue).sorted())
            #expect(rows.allSatisfy { Reason(rawValue: $0.int16(0))?.name == $0.string(1) })
        }
    }
}

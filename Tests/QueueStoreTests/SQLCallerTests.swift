import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// The SQL API as a role calls it that has nothing else.
@Suite(.timeLimit(.minutes(2))) struct SQLCallerTests {
    private func withCaller(
        grants: Bool = true, _ body: (QueueFixture, PostgresClient) async throws -> Void
    ) async throws {
        try await QueueFixture.run(subscribers: 3) { queue in
            // The fixture numbers its subscribers itself.
            _ = try await queue.client.query(
                "SELECT setval(pg_get_serial_sequence('pushfleet.subscriber', 'id'), 1000)")
            let role = "caller_" + UUID().uuidString.lowercased().filter { $0 != "-" }
            _ = try await queue.client.query("CREATE ROLE \(unescaped: role) LOGIN PASSWORD 'x'")
            if grants {
                #expect(try await queue.admin.grant(app: "ferry", to: role))
                #expect(try await !queue.admin.grant(app: "ferry", to: role))
            } else {
                _ = try await queue.client.query("GRANT pushfleet_caller TO \(unescaped: role)")
            }
            let url = queue.database.directURL + "&user=\(role)&password=x"
            let caller = PostgresClient(PostgresConfiguration(url), connections: 1, logger: TemporaryDatabase.logger)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(queue, caller)) } catch { outcome = .failure(error) }
            await caller.close()
            if grants { #expect(try await queue.admin.revoke(app: "ferry", from: role)) }
            _ = try await queue.client.query("DROP ROLE \(unescaped: role)")
            try outcome.get()
        }
    }

    @Test func `the page's examples give what it shows, to a login with nothing else`() async throws {
        try await TemporaryDatabase.run { database in
            let process = Process()
            let output = Pipe()
            let script = URL(filePath: #filePath).appending(path: "../../../Scripts/lib/sql-api-page")
            process.executableURL = script.standardized
            process.arguments = [database.directURL, "--check"]
            process.standardOutput = output
            try process.run()
            let difference = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "run Scripts/lib/sql-api-page: \(difference)")
        }
    }

    private static let calls: [PostgresQuery] = [
        "SELECT pushfleet.notify('ferry', '{\"externalId\":\"u1\"}', '{\"silent\":true}')",
        "SELECT pushfleet.register_subscriber('ferry', '{\"external_id\":\"n\",\"transport\":\"fcm\",\"address\":\"t\"}')",
        "SELECT pushfleet.unregister_subscriber('ferry', '{\"externalId\":\"u3\"}')",
        "SELECT pushfleet.pause_app('ferry')", "SELECT pushfleet.resume_app('ferry')",
        "SELECT count(*) FROM pushfleet.explain('ferry', '{\"externalId\":\"u1\"}')",
    ]

    @Test func `a caller reaches the apps granted to it, and no table`() async throws {
        try await withCaller { queue, caller in
            for call in Self.calls { _ = try await caller.query(call) }
            let run = try await queue.makeRun()
            #expect(try await caller.query("SELECT pushfleet.pause(\(run.rawValue))")[0].bool(0))
            #expect(try await caller.query("SELECT pushfleet.resume(\(run.rawValue))")[0].bool(0))
            #expect(try await caller.query("SELECT * FROM pushfleet.cancel(\(run.rawValue))").count == 1)
            for table in ["app", "subscriber", "run", "app_caller", "notification"] {
                let error = await #expect(throws: PostgresError.self) {
                    _ = try await caller.query("SELECT count(*) FROM pushfleet.\(unescaped: table)")
                }
                #expect(error?.code == .insufficientPrivilege)
            }
            _ = try await queue.client.query("DELETE FROM pushfleet.notification")
        }
    }

    @Test func `a caller is refused apps that were not granted to it`() async throws {
        try await withCaller(grants: false) { queue, caller in
            let run = try await queue.makeRun()
            let body = PostgresJSON(queue.campaign())
            let more: [PostgresQuery] = [
                "SELECT pushfleet.pause(\(run.rawValue))", "SELECT pushfleet.resume(\(run.rawValue))",
                "SELECT count(*) FROM pushfleet.cancel(\(run.rawValue))", "SELECT pushfleet.schedule_campaign(\(body))",
            ]
            for call in Self.calls + more {
                let error = await #expect(throws: PostgresError.self) { _ = try await caller.query(call) }
                #expect(error?.sqlState == "PF403")
            }
        }
    }

    @Test func `an installation is kept as an import keeps it, and revived by a new registration`() async throws {
        try await withCaller { queue, caller in
            let token = String(repeating: "AB", count: 32)
            let installation =
                #"{"external_id":"n","transport":"apns","address":"\#(token)","tags":["b","a","b"],"attributes":{"k":1}}"#
            let register: PostgresQuery = "SELECT pushfleet.register_subscriber('ferry', \(PostgresJSON(installation)))"
            let id = try await caller.query(register)[0].int64(0)
            #expect(try await caller.query(register)[0].int64(0) == id)
            let kept: PostgresQuery = """
                SELECT concat_ws(' ', transport, address, environment, tags, attributes, state, address_version)
                FROM pushfleet.subscriber WHERE external_id = 'n'
                """
            #expect(try await queue.texts(kept) == [#"1 \#(token.lowercased()) 1 {b,a} {"k": 1} 1 1"#])
            let unregister: PostgresQuery = #"SELECT pushfleet.unregister_subscriber('ferry', '{"externalId":"n"}')"#
            #expect(try await caller.query(unregister)[0].int32(0) == 1)
            #expect(try await caller.query(unregister)[0].int32(0) == 0)
            #expect(
                try await queue.count("SELECT state::bigint FROM pushfleet.subscriber WHERE external_id = 'n'") == 3)
            #expect(try await caller.query(register)[0].int64(0) == id)
            #expect(
                try await queue.count("SELECT state::bigint FROM pushfleet.subscriber WHERE external_id = 'n'") == 1)
            let error = await #expect(throws: PostgresError.self) {
                _ = try await caller.query(
                    #"SELECT pushfleet.register_subscriber('ferry', '{"transport":"fcm","address":"/topics/all","x":1}')"#
                )
            }
            #expect(error?.sqlState == "PF400" && error?.detail?.contains("/installation/external_id") == true)
        }
    }

    /// What is said of `registered_at`, and what becomes of it: a device whose clock is ahead registers now.
    @Test(arguments: [
        (#""9999-01-01T00:00:00Z""#, true), (#""2020-03-01T00:00:00+02:00""#, false), ("null", true),
    ])
    func `nobody registers later than now`(said: String, isNow: Bool) async throws {
        try await withCaller { queue, caller in
            let installation = #"{"external_id":"n","transport":"fcm","address":"t","registered_at":\#(said)}"#
            _ = try await caller.query("SELECT pushfleet.register_subscriber('ferry', \(PostgresJSON(installation)))")
            let isRecent = "registered_at BETWEEN now() - interval '1 minute' AND now()"
            #expect(
                try await queue.count(
                    "SELECT (\(unescaped: isRecent))::int::bigint FROM pushfleet.subscriber WHERE external_id = 'n'")
                    == (isNow ? 1 : 0))
        }
    }

    @Test(arguments: [
        (#""registered_at":"2026-01-01T00:00:00+23:00""#, "/installation/registered_at"),
        (#""registered_at":"0000-01-01T00:00:00Z""#, "/installation/registered_at"),
        (
            #""attributes":{\#((0..<4000).map { #""k\#($0)":null"# }.joined(separator: ","))}"#,
            "/installation/attributes"
        ),
        (#""tags":[\#((0...1000).map { #""t\#($0)""# }.joined(separator: ","))]"#, "/installation/tags"),
    ])
    func `an installation that no row should hold is refused with its pointer`(
        member: String, pointer: String
    ) async throws {
        try await withCaller { _, caller in
            let installation = #"{"external_id":"n","transport":"fcm","address":"t",\#(member)}"#
            let error = await #expect(throws: PostgresError.self) {
                _ = try await caller.query(
                    "SELECT pushfleet.register_subscriber('ferry', \(PostgresJSON(installation)))")
            }
            #expect(error?.sqlState == "PF400" && error?.detail?.contains(pointer) == true)
        }
    }

    @Test func `a day's single notifications are not cancelled by a number that was meant for a campaign`()
        async throws
    {
        try await withCaller { queue, caller in
            _ = try await caller.query(Self.calls[0])
            let standing = try await queue.count("SELECT id FROM pushfleet.run WHERE standing")
            let error = await #expect(throws: PostgresError.self) {
                _ = try await caller.query("SELECT * FROM pushfleet.cancel(\(standing))")
            }
            #expect(error?.sqlState == "PF400")
            let unknown = await #expect(throws: PostgresError.self) {
                _ = try await caller.query("SELECT pushfleet.pause(\(standing), 9999::smallint)")
            }
            #expect(unknown?.sqlState == "PF400")
            #expect(try await caller.query("SELECT pushfleet.pause(\(standing), NULL, 'maintenance')")[0].bool(0))
            #expect(try await caller.query("SELECT pushfleet.resume(\(standing))")[0].bool(0))
        }
    }

    @Test func `a campaign through SQL begins once it is found sound, else it is refused with all problems`()
        async throws
    {
        try await withCaller { queue, caller in
            let good = PostgresJSON(queue.campaign(key: "k"))
            let first = try await caller.query("SELECT pushfleet.schedule_campaign(\(good))")[0].int64(0)
            #expect(try await caller.query("SELECT pushfleet.schedule_campaign(\(good))")[0].int64(0) == first)
            let other = PostgresJSON(queue.campaign(key: "k", title: "Other"))
            let conflict = await #expect(throws: PostgresError.self) {
                _ = try await caller.query("SELECT pushfleet.schedule_campaign(\(other))")
            }
            #expect(conflict?.sqlState == "PF409")
            let bad = PostgresJSON(
                queue.campaign(audience: #"{"everyone": true}"#, schedule: #"{"at": "tomorrow"}"#))
            let second = try await caller.query("SELECT pushfleet.schedule_campaign(\(bad))")[0].int64(0)
            let unknown = PostgresJSON(queue.campaign(audience: #"{"segment": "nowhere"}"#))
            let third = try await caller.query("SELECT pushfleet.schedule_campaign(\(unknown))")[0].int64(0)
            let admitted = try await queue.schedule.admitCampaigns()
            #expect(admitted.begun == 1 && admitted.refused == 2)
            #expect(try await queue.schedule.admitCampaigns() == AdmittedCampaigns())
            #expect(try await queue.count("SELECT count(*) FROM pushfleet.run WHERE campaign_id = \(first)") == 1)
            for refused in [second, third] {
                let said = try await caller.query(
                    "SELECT state, jsonb_array_length(problems), run_id FROM pushfleet.campaign_state(\(refused))")[0]
                let known = try #require(try await queue.admin.state(ofCampaign: refused))
                #expect(said.string(0) == "refused" && known.state == "refused" && said.isNull(2))
                #expect(said.int32(1) >= (refused == second ? 3 : 1) && known.problems.count == Int(said.int32(1)))
            }
            let begun = try await caller.query("SELECT state, run_id FROM pushfleet.campaign_state(\(first))")
            #expect(begun.count == 1 && begun[0].string(0) == "active")
            #expect(try await queue.admin.runs(ofCampaign: first) == [Run.ID(begun[0].int64(1))])
            #expect(try await caller.query("SELECT * FROM pushfleet.campaign_state(99)").isEmpty)
            // It sends already, and no further run of it will come.
            #expect(try await !caller.query("SELECT pushfleet.end_campaign(\(first))")[0].bool(0))
            #expect(try await !caller.query("SELECT pushfleet.end_campaign(99)")[0].bool(0))
            let hourly = PostgresJSON(queue.campaign(schedule: #"{"cron": "0 * * * *", "zone": "UTC"}"#))
            let fourth = try await caller.query("SELECT pushfleet.schedule_campaign(\(hourly))")[0].int64(0)
            #expect(try await queue.schedule.admitCampaigns().begun == 1)
            #expect(try await caller.query("SELECT pushfleet.end_campaign(\(fourth))")[0].bool(0))
            #expect(try await queue.admin.state(ofCampaign: fourth)?.state == "over")
            let seen = await #expect(throws: PostgresError.self) {
                _ = try await caller.query(#"SELECT pushfleet.schedule_campaign('{"app": "ferry", "x": 1}')"#)
            }
            #expect(seen?.sqlState == "PF400" && seen?.detail?.contains("/name") == true)
        }
    }
}

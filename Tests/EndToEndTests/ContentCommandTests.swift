import Domain
import Foundation
import Postgres
import QueueStore
import Testing

/// What `campaign preview`, `validate` and `check` say of all three transports.
@Suite(.timeLimit(.minutes(2))) struct ContentCommandTests {
    private struct Request: Decodable {
        let transport, url, body, language: String
        let headers: [String: String]
        let bytes, limit: Int
        let refusal: String?
    }

    private struct Report: Decodable {
        struct Size: Decodable {
            let transport: String
            let bytes, limit: Int
            let largest: Bool
        }
        struct Warning: Decodable { let pointer, code: String }
        let valid: Bool
        let sizes: [Size]
        let warnings: [Warning]
    }

    private struct Check: Decodable {
        let transport, credential, answer: String
        let accepted: Bool
    }

    private static func campaign(_ body: String) -> String {
        """
        {"app": "ferry", "name": "Winter", "audience": {"all": true},
         "message": {"content": {"en": {"title": "Hi {{name|you}}", "body": "\(body)"}, "_default": "en"}}}
        """
    }

    /// An app with all three credentials and a subscriber of each transport, and a campaign file.
    private func run(body: String = "x", _ test: (Site, String) async throws -> Void) async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
                try await furnish(site, folder)
                let file = folder.appending(path: "campaign.json")
                try Self.campaign(body).write(to: file, atomically: true, encoding: .utf8)
                try await test(site, file.path)
            }
        }
    }

    private func furnish(_ site: Site, _ folder: URL) async throws {
        let apple = URL(filePath: site.provider.keyFile).deletingLastPathComponent().appending(path: "apns.json").path
        let (apns, added) = try await site.pushfleet(
            ["credential", "add", "apple", "--app", "ferry", "--transport", "apns", "--file", apple])
        #expect(added == .done, "\(apns.errors)")
        let (web, made) = try await site.pushfleet([
            "credential", "add", "web", "--app", "ferry", "--transport", "webpush", "--generate", "--file",
            folder.appending(path: "vapid.pem").path, "--contact", "mailto:push@ferry.example", "--padding",
        ])
        #expect(made == .done, "\(web.errors)")
        let point = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
        _ = try await site.client.query(
            """
            INSERT INTO pushfleet.subscriber
                (shard, app_id, transport, service, address, environment, p256dh, auth, language, attributes)
            VALUES
                (0, 1, 1, 0, repeat('ab', 32), 1, NULL, NULL, 'en', '{"name": "Ana"}'),
                (0, 1, 3, 4, 'https://a.notify.windows.com/w/1', 0, \(point), repeat('A', 22), 'en', '{"name": "Ana"}')
            """)
    }

    private func lines<Value: Decodable>(_ text: String, as type: Value.Type = Value.self) throws -> [Value] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }

    private func requests(_ site: Site, _ arguments: [String]) async throws -> [Request] {
        let (child, exit) = try await site.pushfleet(["campaign", "preview"] + arguments + ["--json"])
        #expect(exit == .done, "\(child.errors)")
        return try JSONDecoder().decode([Request].self, from: Data(child.output.utf8))
    }

    @Test func `a preview shows all three platforms, and of a subscriber the own one`() async throws {
        try await run { site, file in
            let all = try await requests(site, [file, "--language", "en-GB"])
            #expect(all.map(\.transport).sorted() == ["apns", "fcm", "webpush"])
            #expect(all.allSatisfy { $0.body.contains("Hi you") && $0.refusal == nil && $0.language == "en" })
            let apple = try #require(all.first { $0.transport == "apns" })
            #expect(apple.headers["apns-topic"] == "example.ferry" && apple.url.hasPrefix("https://127.0.0.1:"))
            for (id, transport) in [("1", "fcm"), ("2", "apns"), ("3", "webpush")] {
                let own = try await requests(site, [file, "--subscriber", id])
                #expect(own.map(\.transport) == [transport])
                #expect(own.first?.body.contains(id == "1" ? "Hi you" : "Hi Ana") == true)
            }
            let browser = try await requests(site, [file, "--subscriber", "3"]).first
            #expect(browser?.url == "https://a.notify.windows.com/w/1")
            #expect(browser?.headers["x-wns-cache-policy"] == "cache" && browser?.limit == 3993)
        }
    }

    @Test func `validation weighs all three, and warns of what Firefox for Android may not get`() async throws {
        try await run(body: String(repeating: "日", count: 900)) { site, file in
            let (child, exit) = try await site.pushfleet(["campaign", "validate", file, "--json"])
            #expect(exit == .done, "\(child.errors)")
            let report = try #require(try lines(child.output, as: Report.self).first)
            #expect(report.valid && report.sizes.allSatisfy { $0.largest && $0.bytes > 2700 })
            #expect(report.sizes.map { "\($0.transport) \($0.limit)" } == ["fcm 4096", "apns 4096", "webpush 3993"])
            #expect(report.warnings.map { "\($0.code) \($0.pointer)" } == ["webpush_bridge /message/content/en"])
            let (text, _) = try await site.pushfleet(["campaign", "validate", file, "--audience"])
            #expect(text.output.contains("warning: /message/content/en: Firefox for Android"))
        }
    }

    @Test func `a check asks FCM and tries the keys of the others`() async throws {
        try await run { site, file in
            let (child, exit) = try await site.pushfleet(
                ["campaign", "check", file, "--subscriber", "1", "--json"])
            #expect(exit == .done, "\(child.errors)")
            let rows = try lines(child.output, as: Check.self)
            #expect(rows.map(\.credential) == ["firebase", "apple", "web"])
            #expect(rows.map(\.answer) == ["accepted", "key signs", "key signs"])
            let (keys, good) = try await site.pushfleet(["campaign", "check", file, "--keys-only", "--json"])
            #expect(good == .done, "\(keys.errors)")
            #expect(try lines(keys.output, as: Check.self).map(\.answer) == ["key signs", "key signs", "key signs"])
            _ = try await site.client.query(
                """
                UPDATE pushfleet.credential SET facts = facts || '{"public_key": "another"}' WHERE name = 'web'
                """)
            let (other, bad) = try await site.pushfleet(["campaign", "check", file, "--keys-only", "--json"])
            #expect(bad.status == 1)
            let web = try #require(try lines(other.output, as: Check.self).last)
            #expect(!web.accepted && web.answer.contains("another key"))
        }
    }

    @Test func `what is left of nothing is shown without a body`() async throws {
        try await run { site, file in
            let body = Self.campaign("x").replacing("Hi {{name|you}}", with: "{{name}}")
            // With a mark in front, as editors on Windows write it.
            try ("\u{FEFF}" + body).write(toFile: file, atomically: true, encoding: .utf8)
            let all = try await requests(site, [file])
            #expect(all.map(\.refusal) == ["rendered_empty", "rendered_empty", "rendered_empty"])
            #expect(all.allSatisfy { $0.body.isEmpty && $0.bytes == 0 })
        }
    }

    @Test func `a check ends though no access token can be had, and says so`() async throws {
        try await run { site, file in
            let key = try Data(contentsOf: URL(filePath: site.provider.keyFile))
            var account = try #require(try JSONSerialization.jsonObject(with: key) as? [String: Any])
            account["token_uri"] = "https://127.0.0.1:1/token"
            let path = file + ".key"
            try JSONSerialization.data(withJSONObject: account).write(to: URL(filePath: path))
            _ = try await site.client.query("UPDATE pushfleet.credential SET file = \(path) WHERE name = 'firebase'")
            let (child, exit) = try await site.pushfleet(["campaign", "check", file, "--token", "t", "--json"])
            #expect(exit.status == 1, "\(child.errors)")
            let row = try #require(try lines(child.output, as: Check.self).first)
            #expect(!row.accepted && row.answer.contains("no access token within 10s"), "\(row)")
        }
    }

    @Test func `a validation against the database knows the zone`() async throws {
        try await run { site, file in
            let cron = #"{"cron": "0 9 * * *", "zone": "Europe/Nowhere"}, "audience": {"#
            try Self.campaign("x").replacing(#""audience": {"#, with: #""schedule": "# + cron)
                .write(toFile: file, atomically: true, encoding: .utf8)
            let (child, exit) = try await site.pushfleet(["campaign", "validate", file, "--audience"])
            #expect(exit.status == 2 && child.output.contains("/schedule/zone"), "\(child.output)\(child.errors)")
        }
    }
}

import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing

/// What a user can get wrong: one message that names field and remedy, the documented exit status, nothing half done.
@Suite(.timeLimit(.minutes(1))) struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var arguments: [String]
        var files: [String: String] = [:]
        var environment: [String: String] = [:]
        var status: Int32 = 2
        /// Each stands in the message.
        var names: [String]
    }

    private static let campaign = """
        {"app": "ferry", "name": "Winter", "message": {"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}},
         "audience": {"all": true}, "schedule": {"at": "now"}}
        """

    private static let cases = [
        Case(
            testDescription: "campaign file that is no JSON", arguments: ["campaign", "create", "FOLDER/c.json"],
            files: ["c.json": "{\"app\": "], names: ["1 problem", "Line 1, column 9", "Correct the JSON"]),
        Case(
            testDescription: "campaign file that is not there", arguments: ["campaign", "create", "FOLDER/none.json"],
            names: ["file: ", "none.json cannot be read", "name a campaign file"]),
        Case(
            testDescription: "unknown language in _default", arguments: ["campaign", "create", "FOLDER/c.json"],
            files: ["c.json": campaign.replacing("\"_default\": \"en\"", with: "\"_default\": \"fr\"")],
            names: ["/message/content/_default", "Set _default to one of: en"]),
        Case(
            testDescription: "unknown member", arguments: ["campaign", "create", "FOLDER/c.json"],
            files: ["c.json": campaign.replacing("\"audience\"", with: "\"audiense\": 1, \"audience\"")],
            names: ["/audiense", "unknown_field"]),
        Case(
            testDescription: "unknown app", arguments: ["campaign", "create", "FOLDER/c.json"],
            files: ["c.json": campaign.replacing("\"ferry\"", with: "\"tram\"")],
            names: ["app: 'tram' does not exist", "pushfleet app create tram"]),
        Case(
            testDescription: "missing credential file",
            arguments: [
                "credential", "add", "second", "--app", "ferry", "--transport", "fcm", "--file", "FOLDER/key.json",
            ],
            names: ["file: ", "key.json"]),
        Case(
            testDescription: "credential file that is no key",
            arguments: [
                "credential", "add", "second", "--app", "ferry", "--transport", "fcm", "--file", "FOLDER/key.json",
            ],
            files: ["key.json": "{\"type\": \"service_account\"}"], names: ["file: ", "key.json"]),
        Case(
            testDescription: "import without a header",
            arguments: ["subscriber", "import", "--app", "ferry", "FOLDER/s.csv"],
            files: ["s.csv": "external_id,transport,adress\na,fcm,t\n"],
            names: ["file: Unknown columns: adress", "Known: "]),
        Case(
            testDescription: "import of a file that is not there",
            arguments: ["subscriber", "import", "--app", "ferry", "FOLDER/none.csv"],
            names: ["file: ", "none.csv cannot be read"]),
        Case(
            testDescription: "limits of which none can be read",
            arguments: [
                "app", "set", "ferry", "--frequency-cap", "0/1h", "--quiet-hours", "25:00-08:00", "--in-quiet-hours",
                "wait",
            ],
            names: [
                "frequency-cap: '0/1h' is no cap", "such as 3/24h", "quiet-hours: '25:00-08:00'", "such as 22:00-08:00",
                "in-quiet-hours: 'wait' is unknown; use defer or skip",
            ]),
        Case(
            testDescription: "run that is not there", arguments: ["campaign", "cancel", "999"],
            names: ["run: 999 is over or unknown", "pushfleet campaign list"]),
        Case(
            testDescription: "report of a campaign that is not there", arguments: ["report", "campaign", "999"],
            names: ["campaign: 999 is unknown", "pushfleet campaign list"]),
        Case(
            testDescription: "role that is none", arguments: ["run", "--roles", "boss"],
            names: ["roles: 'boss' names no role", "scheduler, worker and janitor"]),
        Case(
            testDescription: "unknown option", arguments: ["run", "--rolls", "worker"], names: ["--rolls"]),
        Case(
            testDescription: "CA file that is not there", arguments: ["run", "--ca-file", "FOLDER/ca.pem"],
            names: ["ca-file: ", "ca.pem cannot be read"]),
        Case(
            testDescription: "unreachable database", arguments: ["app", "list"],
            environment: ["PUSHFLEET_DATABASE_URL": "postgresql://ann@127.0.0.1:1/push"], status: 3,
            names: ["cannot connect to PostgreSQL at 127.0.0.1:1", "PUSHFLEET_DATABASE_URL"]),
        Case(
            testDescription: "database URL that is none", arguments: ["app", "list"],
            environment: ["PUSHFLEET_DATABASE_URL": "postgresql://a:b:c"], status: 3,
            names: ["invalid integer value", "port", "PUSHFLEET_DATABASE_URL"]),
    ]

    @Test func `each mistake has one message with field and remedy, and changes nothing`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                let before = try await Self.state(site)
                for row in Self.cases { try await Self.play(row, site) }
                #expect(try await Self.state(site) == before)
            }
        }
    }

    private static func play(_ row: Case, _ site: Site) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushfleet-bad-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        for (name, text) in row.files {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let arguments = row.arguments.map { $0.replacing("FOLDER", with: folder.path) }
        let (child, exit) = try await site.pushfleet(arguments, environment: row.environment)
        let comment: Comment = "\(row.testDescription): \(exit) \(child.errors)"
        #expect(exit == Child.Exit(status: row.status, bySignal: false), comment)
        for name in row.names { #expect(child.errors.contains(name), comment) }
        #expect(child.output.isEmpty, comment)
        #expect(
            child.errors.split(separator: "\n").filter { $0.hasPrefix("pushfleet") || $0.hasPrefix("Error") }.count
                <= 1, comment)
    }

    private static func state(_ site: Site) async throws -> [Int64] {
        try await site.client.query(
            """
            SELECT ARRAY[
                (SELECT count(*) FROM pushfleet.app), (SELECT count(*) FROM pushfleet.campaign),
                (SELECT count(*) FROM pushfleet.run), (SELECT count(*) FROM pushfleet.credential),
                (SELECT count(*) FROM pushfleet.subscriber), (SELECT count(*) FROM pushfleet.content_version)
            ]
            """)[0].int64Array(0)
    }

    @Test func `a schema that does not fit is refused with the command that mends it`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 1) { site in
                #expect(try await site.pushfleet(["migrate", "verify"]).1 == .done)
                let (_, down) = try await site.pushfleet(["migrate", "down", "--to", "5"])
                #expect(down == .done)
                for arguments in [["migrate", "verify"], ["run", "--roles", "worker"]] {
                    let (child, exit) = try await site.pushfleet(arguments)
                    #expect(exit.status == 4, "\(arguments): \(child.errors)")
                    #expect(child.errors.contains("run: pushfleet migrate up"), "\(arguments): \(child.errors)")
                }
                #expect(try await site.pushfleet(["migrate", "up"]).1 == .done)
                _ = try await site.client.query("UPDATE pushfleet.migration SET lowest_binary = 99 WHERE number = 6")
                let (child, exit) = try await site.pushfleet(["run", "--roles", "worker"])
                #expect(exit.status == 4 && child.errors.contains("level 99"), "\(child.errors)")
            }
        }
    }

    @Test func `bad lines of an import are kept, and the others are imported`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 0) { site in
                let file = FileManager.default.temporaryDirectory.appending(path: "import-\(UUID().uuidString).csv")
                let paths = [file.path, file.path + ".rejects", file.path + ".rejects.reasons"]
                defer {
                    for path in paths {
                        #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
                    }
                }
                // More than one chunk; an id that comes back in another chunk, a value that only the database refuses.
                var lines = (1...12_000).map { "s\($0),fcm,token-\($0):APA91bxxxxxxxxxxxxxxxx,{}" }
                lines[7] = "broken"
                lines[9_000] = "s5,fcm,token-again:APA91bxxxxxxxxxxxxxxxx,{}"
                lines[11_000] = "s0,fcm,token-0:APA91bxxxxxxxxxxxxxxxx,\"{\"\"a\"\":1e999999}\""
                let header = "external_id,transport,address,attributes"
                try ([header] + lines).joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
                let (child, exit) = try await site.pushfleet(
                    ["subscriber", "import", "--app", "ferry", "--json", file.path])
                #expect(exit == .done, "\(child.errors)")
                #expect(child.output.contains("\"added\":11997,\"changed\":0,\"imported\":11997,\"refused\":3"))
                let rejects = try String(contentsOfFile: paths[1], encoding: .utf8)
                #expect(rejects == ([header, lines[7], lines[9_000], lines[11_000]]).joined(separator: "\n") + "\n")
                let reasons = try String(contentsOfFile: paths[2], encoding: .utf8).split(separator: "\n")
                #expect(reasons.dropFirst().map { $0.prefix { $0 != "\t" } } == ["9", "9002", "11002"])
                let kept = try await site.client.query(
                    "SELECT address FROM pushfleet.subscriber WHERE external_id = 's5'")[0].string(0)
                #expect(kept.hasPrefix("token-5:"))
                let (again, _) = try await site.pushfleet(
                    ["subscriber", "import", "--app", "ferry", "--json", file.path])
                #expect(again.output.contains("\"added\":0,\"changed\":11997"))
            }
        }
    }
}

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

    private static func scheduled(_ schedule: String) -> String {
        campaign.replacing(#"{"at": "now"}"#, with: schedule)
    }

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
            testDescription: "import whose rejects would be its file",
            arguments: [
                "subscriber", "import", "--app", "ferry", "FOLDER/s.csv", "--rejects", "FOLDER/../FOLDERNAME/s.csv",
            ],
            files: ["s.csv": "external_id,transport,address\na,fcm,t\n"],
            names: ["rejects: ", "is the file itself", "name another"]),
        Case(
            testDescription: "import whose reasons would be its file",
            arguments: [
                "subscriber", "import", "--app", "ferry", "FOLDER/s.csv.reasons", "--format", "csv", "--rejects",
                "FOLDER/s.csv",
            ],
            files: ["s.csv.reasons": "external_id,transport,address\na,fcm,t\n"], names: ["is the file itself"]),
        Case(
            testDescription: "import of a file whose name does not say what it is",
            arguments: ["subscriber", "import", "--app", "ferry", "FOLDER/s.txt"],
            files: ["s.txt": "external_id,transport,address\na,fcm,t\n"],
            names: ["format: ", "add --format csv or --format jsonl"]),
        Case(
            testDescription: "migrations below the first", arguments: ["migrate", "down", "--to", "-1"],
            names: ["to: -1 is out of range; use 0 to "]),
        Case(
            testDescription: "migrations above the last", arguments: ["migrate", "down", "--to", "9999"],
            names: ["to: 9999 is out of range; use 0 to "]),
        Case(
            testDescription: "no migration to go up to", arguments: ["migrate", "up", "--to", "0"],
            names: ["to: 0 is out of range; use 1 to "]),
        Case(
            testDescription: "dry run in a zone that there is not",
            arguments: ["campaign", "create", "FOLDER/c.json", "--dry-run"],
            files: ["c.json": scheduled(#"{"cron": "0 9 * * *", "zone": "Europe/Nowhere"}"#)],
            names: ["/schedule/zone: 'Europe/Nowhere' is no IANA zone", "Europe/Lisbon"]),
        Case(
            testDescription: "dry run with a segment that there is not",
            arguments: ["campaign", "create", "FOLDER/c.json", "--dry-run"],
            files: ["c.json": campaign.replacing(#"{"all": true}"#, with: #"{"segment": "none"}"#)],
            names: ["there is no segment 'none'", "pushfleet segment set"]),
        Case(
            testDescription: "campaign that is over", arguments: ["campaign", "create", "FOLDER/c.json"],
            files: ["c.json": scheduled(#"{"at": "2001-01-01T00:00:00Z"}"#)],
            names: ["/schedule: It is over already", "schedule_invalid", "Correct the schedule"]),
        Case(
            testDescription: "campaign without an occurrence left", arguments: ["campaign", "create", "FOLDER/c.json"],
            files: ["c.json": scheduled(#"{"cron": "0 9 * * *", "zone": "UTC", "end": "2001-01-01T00:00:00Z"}"#)],
            names: ["/schedule: It is over already"]),
        Case(
            testDescription: "more campaigns than can be listed",
            arguments: ["campaign", "list", "--limit", "99999999999999"], names: ["limit: ", "use 1 to 100000"]),
        Case(
            testDescription: "fewer campaigns than none", arguments: ["campaign", "list", "--limit", "-1"],
            names: ["limit: -1 is out of range; use 1 to 100000"]),
        Case(
            testDescription: "campaigns of an unknown app", arguments: ["campaign", "list", "--app", "tram"],
            names: ["app: 'tram' does not exist"]),
        Case(
            testDescription: "credentials of an unknown app", arguments: ["credential", "list", "--app", "tram"],
            names: ["app: 'tram' does not exist"]),
        Case(
            testDescription: "waves of an unknown app", arguments: ["token", "waves", "--app", "tram"],
            names: ["app: 'tram' does not exist"]),
        Case(
            testDescription: "credential of which nothing fits",
            arguments: [
                "credential", "add", "", "--app", "ferry", "--transport", "fcm", "--file", "FOLDER/key.json",
                "--endpoint", "ftp://x", "--padding",
            ],
            names: ["name: use 1 to 64 characters", "endpoint: 'ftp://x' is no origin", "padding", "webpush only"]),
        Case(
            testDescription: "intake of which nothing is in range",
            arguments: ["intake", "--http-port", "70000", "--rate", "0", "--connections", "65"],
            names: ["http-port: 70000", "rate: 0 is out of range", "connections: 65 is out of range; use 1 to 64"]),
        Case(
            testDescription: "channel of which nothing fits",
            arguments: ["app", "channel", "add", "a b", "--app", "ferry", "--name", "", "--importance", "loud"],
            names: ["importance: 'loud' is unknown", "2 problems"]),
        Case(
            testDescription: "segment without a name",
            arguments: ["segment", "set", "", "FOLDER/a.json", "--app", "ferry"], files: ["a.json": #"{"all": true}"#],
            names: ["name: use 1 to 64 characters"]),
        Case(
            testDescription: "segment with a control character in its name",
            arguments: ["segment", "set", "a\u{7}", "FOLDER/a.json", "--app", "ferry"],
            files: ["a.json": #"{"all": true}"#], names: ["no control characters"]),
        Case(
            testDescription: "window that ends before it begins",
            arguments: [
                "token", "restore", "--app", "ferry", "--credential", "firebase", "--from", "2026-12-24T09:10Z", "--to",
                "2026-12-24T09:00Z",
            ],
            names: ["from: 2026-12-24T09:10Z is not before --to 2026-12-24T09:00Z"]),
        Case(
            testDescription: "another zone for an app that is there",
            arguments: ["app", "create", "ferry", "--time-zone", "Europe/Lisbon"],
            names: ["time-zone: app 'ferry' exists with UTC"]),
        Case(
            testDescription: "role without a name", arguments: ["app", "grant", "ferry", ""],
            names: ["role: it is empty"]),
        Case(
            testDescription: "subscriber whose number is none",
            arguments: ["explain", "--app", "ferry", "--subscriber", "-1"], names: ["subscriber: -1 is no"]),
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
        Case(
            testDescription: "connection string that cannot be read", arguments: ["app", "list"],
            environment: ["PUSHFLEET_DATABASE_URL": "postgresql://[half"],
            names: ["connection string cannot be read", "correct --database or PUSHFLEET_DATABASE_URL"]),
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
        let arguments = row.arguments.map {
            $0.replacing("FOLDERNAME", with: folder.lastPathComponent).replacing("FOLDER", with: folder.path)
        }
        let (child, exit) = try await site.pushfleet(arguments, environment: row.environment)
        let comment: Comment = "\(row.testDescription): \(exit) \(child.errors)"
        #expect(exit == Child.Exit(status: row.status, bySignal: false), comment)
        for name in row.names { #expect(child.errors.contains(name), comment) }
        for (name, text) in row.files {
            #expect(try String(contentsOf: folder.appending(path: name), encoding: .utf8) == text, comment)
        }
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

    @Test func `a database that is not there and a login that is refused are told from a schema that is missing`()
        async throws
    {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 0) { site in
                let elsewhere = site.ownerURL.replacing(/dbname=[^&]+/, with: "dbname=no_such_database")
                let nobody = site.ownerURL.replacing("fleet_owner", with: "fleet_nobody")
                for (url, what) in [(elsewhere, "no_such_database"), (nobody, "fleet_nobody")] {
                    let (child, exit) = try await site.pushfleet(["migrate", "up", "--database", url])
                    #expect(exit.status == 3, "\(child.errors)")
                    #expect(child.errors.contains("--database"), "\(child.errors)")
                    // A pooler has words of its own.
                    #expect(TemporaryDatabase.isPooled || child.errors.contains(what), "\(child.errors)")
                }
                let child = try site.start(["campaign", "list"], as: .reporter)
                #expect(await child.exit().status == 1)
                #expect(child.errors.contains("log in as the schema's owner"), "\(child.errors)")
            }
        }
    }

    @Test func `a key that was made for a credential that cannot be added is gone again`() async throws {
        try await ProviderProcess.run { provider in
            try await Site.run(on: provider, subscribers: 0) { site in
                let file = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString).pem").path
                func add(_ name: String, _ app: String) async throws -> (Child, Child.Exit) {
                    try await site.pushfleet([
                        "credential", "add", name, "--app", app, "--transport", "webpush", "--generate", "--file", file,
                        "--contact", "mailto:push@ferry.example",
                    ])
                }
                for (name, app) in [("web", "tram"), ("firebase", "ferry")] {
                    let (child, exit) = try await add(name, app)
                    #expect(exit.status == 2 && !FileManager.default.fileExists(atPath: file), "\(child.errors)")
                }
                #expect(try await add("web", "ferry").1 == .done)
                let (again, refused) = try await add("more", "ferry")
                #expect(refused.status == 2 && again.errors.contains("exists; subscriptions may need that key"))
                try FileManager.default.removeItem(atPath: file)
            }
        }
    }

    @Test func `output that a full disk does not take ends with 1, and says so`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "full-\(UUID().uuidString).json")
        try Self.campaign.write(to: file, atomically: true, encoding: .utf8)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        let process = Process()
        process.executableURL = Child.programs.appending(path: "pushfleet")
        process.arguments = ["campaign", "validate", file.path]
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        try process.run()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 1 && said.contains("standard output cannot be written"), "\(said)")
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
                // Mended, the reject file is imported as what it was.
                try "\(header)\ns8,fcm,token-8:APA91bxxxxxxxxxxxxxxxx,{}\n".write(
                    toFile: paths[1], atomically: true, encoding: .utf8)
                let (mended, _) = try await site.pushfleet(
                    ["subscriber", "import", "--app", "ferry", "--json", paths[1]])
                #expect(mended.output.contains("\"added\":1,"), "\(mended.output)\(mended.errors)")
            }
        }
    }
}

import ArgumentParser
import Crypto
import QueueStore

struct AppKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Keys with which an app's SDK calls the HTTP intake.",
        discussion: """
            A key tells which app calls, not which device: it lies in every copy of the app. Several may be good at once, so
            that a new one can go out before the old one is revoked.

            EXAMPLE
              pushfleet app key add ferry
            """,
        subcommands: [AppKeyAdd.self, AppKeyList.self, AppKeyRevoke.self])
}

struct AppKeyAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Makes a key and prints it, this once: only its hash is kept.",
        discussion: "EXAMPLE\n  pushfleet app key add ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app.") var app: String

    private struct Added: Encodable {
        let id: Int64
        let app, key: String
    }

    func run() async throws {
        try await reportingFailures {
            let key = "pf_" + Base64URL.encode(try SecureRandom.bytes(32))
            let id = try await database.withClient { client in
                try await AdminStore(client).addIntakeKey(
                    app: app, hash: SHA256.hash(data: Array(key.utf8)), label: String(key.prefix(9)))
            }
            if output.json { return writeOutput(try jsonLine(Added(id: id, app: app, key: key))) }
            writeOutput("key \(id) of \(app): \(key)\n")
            writeOutput("it is not shown again; the SDK sends it as Authorization: Bearer KEY\n")
        }
    }
}

struct AppKeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists an app's keys by their first characters.",
        discussion: "EXAMPLE\n  pushfleet app key list ferry")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app.") var app: String

    func run() async throws {
        try await reportingFailures {
            let keys = try await database.withClient { client in try await AdminStore(client).intakeKeys(app: app) }
            if output.json {
                for key in keys { writeOutput(try jsonLine(key)) }
                return
            }
            var table = TextTable(["ID", "KEY", "CREATED", "STATE"], right: [0])
            for key in keys {
                table.add([
                    "\(key.id)", key.label + "…", key.createdAt, key.revokedAt.map { "revoked \($0)" } ?? "good",
                ])
            }
            writeOutput(table.text)
        }
    }
}

struct AppKeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Ends a key; the intake refuses it within 30 s.",
        discussion: "EXAMPLE\n  pushfleet app key revoke ferry 3")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The app.") var app: String
    @Argument(help: "The key's number; see list.") var id: Int

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                try await AdminStore(client).revokeIntakeKey(app: app, id: Int64(id))
                writeOutput("key \(id) of \(app) is revoked\n")
            }
        }
    }
}

import ArgumentParser
import Domain
import FoundationEssentials
import Glibc
import Postgres
import QueueStore
import Transports

struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "Credentials: the secrets that providers know an app by.",
        discussion: """
            The database holds where a secret lies, never the secret: each worker reads the file itself.

            EXAMPLE
              pushfleet credential add firebase --app ferry --transport fcm --file /etc/pushfleet/ferry.json
            """,
        subcommands: [CredentialAdd.self, CredentialList.self, CredentialResume.self, CredentialSetRate.self])
}

struct CredentialAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds a credential, or changes where its secret lies.",
        discussion: """
            EXAMPLE
              pushfleet credential add firebase --app ferry --transport fcm --file /etc/pushfleet/ferry.json
              pushfleet credential add apple --app ferry --transport apns --file /etc/pushfleet/apple.json
              pushfleet credential add web --app ferry --transport webpush --file /etc/pushfleet/vapid.pem --generate \\
                --contact mailto:push@ferry.example

            For apns the file names the key: {"team_id": "A1B2C3D4E5", "key_id": "F6G7H8J9K0", "topic": "example.ferry",
            "key_file": "AuthKey_F6G7H8J9K0.p8"}, optionally "environment": "production" or "sandbox" where the key is
            for one of them only.

            Browsers' subscriptions are tied to their VAPID key for life. Another key is added under another name: it signs
            for what subscribes from then on, the older ones for theirs.
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var webPush: WebPushKeyOptions
    @Argument(help: "Its name within the app.") var name: String
    @Option(help: "The app that it belongs to.") var app: String
    @Option(help: "fcm, apns or webpush.") var transport: String
    @Option(
        help: """
            On every worker's machine; fcm: the service account's JSON key, apns: a JSON file that names the key, webpush: \
            the VAPID key, PEM.
            """)
    var file: String
    @Option(help: "https://host:port in place of the provider's own, for a simulator or a proxy.") var endpoint: String?

    func validate() throws {
        var faults: [String] = []
        if let fault = nameFault(name) { faults.append(fault) }
        if transport == "webpush" || CredentialSecret.readers[transport] != nil {
            faults += webPush.faults(transport: transport, endpoint: endpoint)
        } else {
            faults.append("transport: '\(transport)' cannot be sent through; use fcm, apns or webpush")
        }
        if let endpoint, endpoint.wholeMatch(of: /https:\/\/[A-Za-z0-9.\-\[\]:]+/) == nil {
            faults.append("endpoint: '\(endpoint)' is no origin; use https://host:port, without a path")
        }
        guard faults.isEmpty else { throw ValidationError(faults.joined(separator: "\n")) }
    }

    func run() async throws {
        try await reportingFailures {
            let path = absolute(file)
            let secret =
                transport == "webpush"
                ? try webPush.secret(path) : try CredentialSecret(transport: transport, path: path)
            let added: CredentialRecord
            do { added = try await add(secret, at: path) } catch {
                takeBackKey(path, after: error)
                throw error
            }
            if output.json { return writeOutput(try jsonLine(added)) }
            writeOutput("credential \(name) of \(app) \(secret.summary)\n")
            writeOutput("next: pushfleet subscriber import --app \(app) FILE\n")
        }
    }

    private func add(_ secret: CredentialSecret, at path: String) async throws -> CredentialRecord {
        try await database.withClient { client in
            try await AdminStore(client).addCredential(
                NewCredential(
                    app: app, name: name, transport: secret.transport, file: path, endpoint: endpoint,
                    facts: secret.facts))
        }
    }

    /// Removes the key that this call made: nothing knows it, and the next call would find it in its way. Where the
    /// database may name it by now, it stays.
    private func takeBackKey(_ path: String, after error: any Error) {
        guard webPush.generate, (error as? PostgresError)?.mayHaveTakenEffect != true else { return }
        _ = unsafe unlink(path)
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

struct CredentialList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists credentials, their state and what to do about it.",
        discussion: """
            TOKEN UNTIL is the provider token that the fleet shares and renews. Keys do not expire of themselves: they are
            good until they are deleted at the provider. A file that was replaced is used within five minutes, its token
            once the one in use is due for renewal; delete the old key at the provider an hour later.

            EXAMPLE
              pushfleet credential list --app ferry
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only this app's.") var app: String?

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let credentials = try await AdminStore(client).credentials(app: app)
                if output.json {
                    for credential in credentials { writeOutput(try jsonLine(credential)) }
                    return
                }
                var table = TextTable([
                    "APP", "NAME", "TRANSPORT", "STATE", "SINCE", "LAST SUCCESS", "TOKEN UNTIL", "FILE",
                ])
                for each in credentials {
                    let state = each.isPaused ? "paused: \(each.reason)" : "ok"
                    table.add([
                        each.app, each.name, each.transport, state, each.since ?? "", each.lastSuccessAt ?? "-",
                        each.tokenExpiresAt ?? "-", each.file,
                    ])
                }
                writeOutput(table.text)
                for each in credentials where each.isPaused {
                    writeOutput("\(each.name): \(each.detail ?? each.remedy ?? each.reason)\n")
                    writeOutput(
                        "it resumes when its file changes; mended elsewhere: pushfleet credential resume \(each.name) --app \(each.app)\n"
                    )
                }
            }
        }
    }
}

struct CredentialResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Opens a paused credential's routes again, after it was mended.",
        discussion: "EXAMPLE\n  pushfleet credential resume firebase --app ferry")
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "Its name within the app.") var name: String
    @Option(help: "The app that it belongs to.") var app: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                try await AdminStore(client).resumeCredential(app: app, name: name)
                writeOutput("credential \(name) of \(app) is open\n")
            }
        }
    }
}

import ArgumentParser
import Domain
import QueueStore

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Addresses: what answers said of them, and taking it back.",
        discussion: """
            An address that its provider calls dead is quarantined, and retired some minutes later unless too large a
            share of the credential's answers said so: then all of it is held until somebody decides.

            EXAMPLE
              pushfleet token waves
              pushfleet token restore --app ferry --credential firebase --from 2026-12-24T09:00Z --to 2026-12-24T09:10Z
            """,
        subcommands: [TokenList.self, TokenShow.self, TokenWaves.self, TokenRestore.self, TokenAccept.self])
}

struct TokenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists moves of addresses and their evidence, the latest first.",
        discussion: "EXAMPLE\n  pushfleet token list --app ferry --state quarantined")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app.") var app: String
    @Option(help: "Only what answers to this credential said.") var credential: String?
    @Option(help: "Only addresses that are now active, suspect, quarantined, unregistered or wrong_project.")
    var state: String?
    @Option(help: "At most this many.") var limit = 50

    func validate() throws {
        guard state == nil || chosenState != nil else {
            throw ValidationError(
                "state: '\(state ?? "")' is unknown; use active, suspect, quarantined, unregistered or wrong_project")
        }
        guard (1...100_000).contains(limit) else {
            throw ValidationError("limit: \(limit) is out of range; use 1 to 100000")
        }
    }

    private var chosenState: SubscriberState? { SubscriberState.allCases.first { $0.name == state } }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let changes = try await AdminStore(client).tokenChanges(
                    app: app, credential: credential, state: chosenState, limit: Int32(limit))
                writeOutput(output.json ? try changes.map { try jsonLine($0) }.joined() : changeTable(changes))
            }
        }
    }
}

struct TokenShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "One subscriber's state and the evidence for it.",
        discussion: "EXAMPLE\n  pushfleet token show --app ferry user-17-phone")
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app.") var app: String
    @Argument(help: "The subscriber's external id.") var externalID: String

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let story = try await AdminStore(client).token(app: app, externalID: externalID)
                if output.json { return writeOutput(try jsonLine(story)) }
                writeOutput(
                    """
                    subscriber \(story.subscriber) is \(story.state) since \(story.since)
                    registered \(story.registeredAt); its address is the \(story.addressVersion). that it had

                    """)
                if !story.changes.isEmpty { writeOutput("\n" + changeTable(story.changes)) }
            }
        }
    }
}

private func changeTable(_ changes: [TokenChangeRecord]) -> String {
    var table = TextTable(
        ["AT", "SUBSCRIBER", "EXTERNAL ID", "CREDENTIAL", "FROM", "TO", "REASON", "STATUS", "RUN", "VERDICT"],
        right: [1, 7, 8])
    for each in changes {
        table.add([
            each.at, "\(each.subscriber)", each.externalID, each.credential, each.from, each.to, each.reason,
            each.status.map { "\($0)" } ?? "-", "\(each.run)", each.verdict,
        ])
    }
    return table.text
}

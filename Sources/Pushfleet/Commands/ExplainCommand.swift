import ArgumentParser
import QueueStore

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "One subscriber's or user's story: what was sent, what waits, and why not.",
        discussion: """
            Goes back seven days. Shows no address and no attribute.

            EXAMPLE
              pushfleet explain --app ferry --external-id ann-phone
              pushfleet explain --app ferry --user ann --run 12
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "The app.") var app: String
    @Option(help: "The subscriber, by its number.") var subscriber: Int?
    @Option(help: "The subscriber, by your own name for it.") var externalId: String?
    @Option(help: "All subscribers of a user.") var user: String?
    @Option(help: "Only this run, and why it has nothing for them.") var run: Int?

    func validate() throws {
        let given = [subscriber != nil, externalId != nil, user != nil].filter { $0 }.count
        guard given == 1 else {
            throw ValidationError("recipient: name one of --subscriber, --external-id and --user")
        }
        if let subscriber, subscriber < 1 {
            throw ValidationError("subscriber: \(subscriber) is no subscriber's number; use 1 or more")
        }
    }

    private struct Recipient: Encodable {
        var subscriber: Int?
        var externalId: String?
        var user: String?
    }

    func run() async throws {
        try await reportingFailures {
            let recipient = try plainJSON(Recipient(subscriber: subscriber, externalId: externalId, user: user))
            let story = try await database.withClient { client in
                try await AdminStore(client).explain(app: app, recipient: recipient, run: run.map { Int64($0) })
            }
            writeOutput(output.json ? try jsonLine(story) : text(story))
        }
    }

    private func text(_ story: [StoryLine]) -> String {
        var table = TextTable(["AT", "SUBSCRIBER", "RUN", "CAMPAIGN", "WHAT", "REASON", "DETAIL"], right: [1, 2])
        for line in story {
            table.add([
                line.at ?? "now", line.subscriber.map { "\($0)" } ?? "-", line.run.map { "\($0)" } ?? "-",
                line.campaign ?? "-", line.what, line.reason ?? "-", line.detail,
            ])
        }
        return table.text
    }
}

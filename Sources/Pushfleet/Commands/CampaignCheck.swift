import ArgumentParser
import Domain
import FoundationEssentials
import Logging
import QueueStore
import Transports

struct CampaignCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Has FCM check a campaign's messages without delivering them (validate_only).",
        discussion: """
            One request for each language goes out through the app's FCM credential, with the mark that FCM shall only check
            it: to the campaign's topic or condition, to --token, or to --subscriber. FCM checks the target too.

            EXAMPLE
              pushfleet campaign check winter.json --subscriber 4711
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "A subscriber's id, of transport fcm.") var subscriber: Int?
    @Option(help: "A registration token.") var token: String?
    @Option(help: "CA bundle to trust besides nothing else; default PUSHFLEET_CA_FILE, then the system's.")
    var caFile: String?
    @Flag(help: "What it does anyway.") var validateOnly = false
    @Argument(help: "The campaign file.") var file: String

    struct Row: Encodable {
        let language: String
        let status: Int
        let answer: String
        let accepted: Bool
    }

    func run() async throws {
        try await reportingFailures {
            var reading = try CampaignReading(file)
            let rows = try await database.withClient(connections: 2) { client in
                let store = AdminStore(client)
                try await reading.complete(from: store)
                try reading.requireFit()
                let recipient = try await recipient(of: reading, store)
                let settings = try await store.contentSettings(app: reading.campaign.app)
                guard let credential = settings.credentials.first(where: { $0.transport == .fcm }) else {
                    throw CommandFailure("app: '\(reading.campaign.app)' has no FCM credential; add one first")
                }
                return try await ValidateOnly(
                    credential: credential, tokens: PostgresAccessTokenStore(client: client),
                    trustFile: caFile ?? environment("PUSHFLEET_CA_FILE")
                ).send(reading, to: recipient)
            }
            if output.json {
                for row in rows { writeOutput(try jsonLine(row)) }
            } else {
                var table = TextTable(["LANGUAGE", "STATUS", "ANSWER"], right: [1])
                for row in rows { table.add([row.language, "\(row.status)", row.answer]) }
                writeOutput(table.text)
            }
            if rows.contains(where: { !$0.accepted }) { throw ExitStatus.failed }
        }
    }

    private func recipient(of reading: CampaignReading, _ store: AdminStore) async throws -> SubscriberForPreview {
        func made(_ address: String) -> SubscriberForPreview {
            SubscriberForPreview(
                id: 0, transport: .fcm, address: Address(text: address), language: nil, attributes: [:])
        }
        if let target = reading.campaign.target { return made(target.address) }
        if let token { return made(token) }
        guard let subscriber else {
            throw CommandFailure("subscriber: FCM checks the target too; name --subscriber or --token")
        }
        let names = Set(reading.messages.flatMap(\.message.placeholderNames)).sorted()
        let known = try await store.subscriberForPreview(
            app: reading.campaign.app, id: Int64(subscriber), attributes: names)
        guard let known, known.transport == .fcm else {
            throw CommandFailure("subscriber: app '\(reading.campaign.app)' has no FCM subscriber \(subscriber)")
        }
        return known
    }
}

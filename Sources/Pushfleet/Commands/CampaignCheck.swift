import ArgumentParser
import Domain
import FoundationEssentials
import Logging
import QueueStore
import Transports

struct CampaignCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Has FCM check a campaign's messages without delivering them (validate_only), and tries every key.",
        discussion: """
            One request for each language goes out through the app's FCM credential, with the mark that FCM shall only check
            it: to the campaign's topic or condition, to --token, or to --subscriber. FCM checks the target too. APNs and
            push services have no such mark: their keys are read and tried, nothing is sent to them.

            EXAMPLE
              pushfleet campaign check winter.json --subscriber 4711
              pushfleet campaign check winter.json --keys-only
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "A subscriber's id, of transport fcm.") var subscriber: Int?
    @Option(help: "A registration token.") var token: String?
    @Option(help: "CA bundle to trust besides nothing else; default PUSHFLEET_CA_FILE, then the system's.")
    var caFile: String?
    @Flag(help: "What it does anyway.") var validateOnly = false
    @Flag(help: "Send nothing to FCM either: only read and try the keys.") var keysOnly = false
    @Argument(help: "The campaign file.") var file: String

    struct Row: Encodable {
        let transport, credential, language: String
        /// 0 = nothing was sent.
        let status: Int
        let answer: String
        let accepted: Bool

        init(
            transport: TransportKind, credential: String, language: String, status: Int, answer: String, accepted: Bool
        ) {
            self.transport = transport.name
            self.credential = credential
            self.language = language
            self.status = status
            self.answer = answer
            self.accepted = accepted
        }
    }

    func validate() throws {
        if keysOnly, subscriber != nil || token != nil {
            throw ValidationError("keys-only: nothing is sent then; remove --subscriber and --token")
        }
    }

    func run() async throws {
        try await reportingFailures {
            var reading = try CampaignReading(file)
            let rows = try await database.withClient(connections: 2) { client in
                let store = AdminStore(client)
                try await reading.complete(from: store)
                try reading.requireFit()
                let credentials = try await credentials(of: reading, store)
                let now = Int64(Date().timeIntervalSince1970)
                var rows: [Row] = []
                for credential in credentials {
                    guard credential.transport == .fcm, !keysOnly else {
                        rows.append(KeyCheck(credential: credential).row(now: now))
                        continue
                    }
                    rows += try await ValidateOnly(
                        credential: credential, tokens: PostgresAccessTokenStore(client: client),
                        trustFile: caFile ?? environment("PUSHFLEET_CA_FILE")
                    ).send(reading, to: try await recipient(of: reading, store))
                }
                return rows
            }
            try report(rows)
            if rows.contains(where: { !$0.accepted }) { throw ExitStatus.failed }
        }
    }

    /// Those that the campaign's messages can go through.
    /// - Throws: `CommandFailure` where there is none.
    private func credentials(
        of reading: CampaignReading, _ store: AdminStore
    ) async throws -> [AppContentSettings.Credential] {
        let transports = reading.messages.reduce(into: Set<TransportKind>()) {
            $0.formUnion(reading.transports(of: $1.message))
        }
        let app = reading.campaign.app
        let credentials = try await store.contentSettings(app: app).credentials
            .filter { transports.contains($0.transport) }
        guard !credentials.isEmpty else {
            let names = transports.map(\.name).sorted().joined(separator: " or ")
            throw CommandFailure("app: '\(app)' has no credential for \(names); add one first")
        }
        return credentials
    }

    private func report(_ rows: [Row]) throws {
        if output.json {
            for row in rows { writeOutput(try jsonLine(row)) }
            return
        }
        var table = TextTable(["TRANSPORT", "CREDENTIAL", "LANGUAGE", "STATUS", "ANSWER"], right: [3])
        for row in rows {
            let status = row.status == 0 ? "-" : "\(row.status)"
            table.add([row.transport, row.credential, row.language, status, row.answer])
        }
        writeOutput(table.text)
    }

    private func recipient(of reading: CampaignReading, _ store: AdminStore) async throws -> SubscriberForPreview {
        func made(_ address: String) -> SubscriberForPreview {
            SubscriberForPreview(
                id: 0, transport: .fcm, address: Address(text: address), language: nil, attributes: [:])
        }
        if let target = reading.campaign.target { return made(target.address) }
        if let token { return made(token) }
        guard let subscriber else {
            throw CommandFailure(
                "subscriber: FCM checks the target too; name --subscriber or --token, or try --keys-only")
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

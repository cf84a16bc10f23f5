import ArgumentParser
import Domain
import FoundationEssentials
import QueueStore
import Transports

struct CampaignPreview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview", abstract: "Shows what would be sent to each platform, headers and body.",
        discussion: """
            Made by the renderer that sends. With --subscriber the database gives language, attributes and address, and
            only that subscriber's platform is shown; with --language somebody is made up for each, who has no attributes.
            Secrets in headers are left out. Of Web Push the text is shown that the browser reads.

            EXAMPLE
              pushfleet campaign preview winter.json --language pt-BR
              pushfleet campaign preview winter.json --subscriber 4711 --json
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "A subscriber's id, as pushfleet.subscriber has it.") var subscriber: Int?
    @Option(help: "What the device's language would be; default none.") var language: String?
    @Argument(help: "The campaign file.") var file: String

    func validate() throws {
        if subscriber != nil, language != nil {
            throw ValidationError("language: a subscriber brings its own; use --subscriber or --language")
        }
    }

    func run() async throws {
        try await reportingFailures {
            var reading = try CampaignReading(file)
            var known: SubscriberForPreview?
            if subscriber != nil || Self.namesTemplate(reading.campaign) {
                (reading, known) = try await completed(reading)
            } else if database.database != nil || environment("PUSHFLEET_DATABASE_URL") != nil {
                // An app that is not there yet has nothing to say about its messages.
                do { (reading, known) = try await completed(reading) } catch is AdminError {}
            }
            let requests = try requests(reading, for: known)
            if output.json { return writeOutput(try exactJSONLine(requests)) }
            for request in requests { writeOutput(request.text) }
            if requests.isEmpty { writeOutput("nothing is sent: \(Reason.webSilent.name)\n") }
        }
    }

    private static func namesTemplate(_ campaign: CampaignFile) -> Bool {
        let sources = [campaign.message] + campaign.variants.map(\.message)
        return sources.contains { if case .template? = $0 { true } else { false } }
    }

    private func completed(_ reading: CampaignReading) async throws -> (CampaignReading, SubscriberForPreview?) {
        try await database.withClient { client in
            let store = AdminStore(client)
            var reading = reading
            try await reading.complete(from: store)
            guard let subscriber else { return (reading, nil) }
            let names = Set(reading.messages.flatMap(\.message.placeholderNames)).sorted()
            let app = reading.campaign.app
            guard
                let known = try await store.subscriberForPreview(
                    app: app, id: Int64(subscriber), attributes: names)
            else { throw CommandFailure("subscriber: app '\(app)' has no subscriber \(subscriber)") }
            return (reading, known)
        }
    }

    private func requests(_ reading: CampaignReading, for known: SubscriberForPreview?) throws -> [PreviewedRequest] {
        let campaign = reading.campaign
        let language = known?.language ?? language
        return try reading.messages.flatMap { pointer, message in
            let content = ContentVersion(
                id: .init(0), message: message, delivery: campaign.delivery,
                channel: reading.faces.channel(of: message))
            return try reading.faces.previews.compactMap { face -> PreviewedRequest? in
                if let only = campaign.target == nil ? known?.transport : .fcm, face.transport != only { return nil }
                let recipient = PreviewRecipient(
                    identity: JobIdentity(run: .init(0), number: known?.id ?? 0),
                    address: address(face.transport, known, campaign.target), language: language,
                    attributes: known?.attributes ?? [:],
                    remainingSeconds: Int64(campaign.delivery.ttlSeconds ?? 2_419_200),
                    now: Int64(Date().timeIntervalSince1970), service: known?.service ?? 0)
                guard let preview = try face.preview(of: content, for: recipient) else { return nil }
                return PreviewedRequest(
                    face.transport, preview,
                    languageChain: message.silent ? [] : LanguageResolver(message).chain(language),
                    variant: pointer == "/message" ? nil : pointer)
            }
        }
    }

    /// The subscriber's own; without one, made up.
    private func address(
        _ transport: TransportKind, _ known: SubscriberForPreview?, _ target: ProviderTarget?
    ) -> Address {
        if let target { return Address(text: target.address) }
        if let known { return known.address }
        switch transport {
        case .fcm: return Address(text: "<registration token>")
        case .apns: return Address(text: String(repeating: "0", count: 64), environment: .production)
        case .webpush:
            // Keys that are well-formed, and nobody's: the base point of P-256 and zeros.
            let point = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
            return Address(
                text: "https://push.example/subscription", p256dh: point, auth: String(repeating: "A", count: 22))
        }
    }
}

/// What `campaign preview --json` prints of one request.
struct PreviewedRequest: Encodable {
    let transport, method, url: String
    let headers: [String: String]
    let body: String
    let bytes, limit: Int
    let language: String
    let languageChain: [String]
    /// Why it would not be sent.
    let refusal: String?
    let variant: String?
    private let headerOrder: [String]

    private enum CodingKeys: CodingKey {
        case transport, method, url, headers, body, bytes, limit, language, languageChain, refusal, variant
    }

    init(_ transport: TransportKind, _ preview: RequestPreview, languageChain: [String], variant: String?) {
        self.transport = transport.name
        method = preview.method
        url = preview.url
        headers = Dictionary(preview.headers.map { ($0.name, $0.value) }) { $1 }
        headerOrder = preview.headers.map(\.name)
        body = preview.body
        bytes = preview.bytes
        limit = preview.limit
        language = preview.language ?? "-"
        self.languageChain = languageChain
        refusal = preview.refusal?.name
        self.variant = variant
    }

    var text: String {
        var lines = ["\(transport)  \(bytes) of \(limit) bytes, language \(language)"]
        if !languageChain.isEmpty { lines[0] += " (\(languageChain.joined(separator: " > ")))" }
        if let variant { lines[0] += ", \(variant)" }
        if let refusal { lines.append("NOT SENT: \(refusal)") }
        lines.append("\(method) \(url)")
        lines += headerOrder.map { "\($0): \(headers[$0] ?? "")" }
        return lines.joined(separator: "\n") + "\n\n\(body)\n\n"
    }
}

import Delivery
import Domain
import Logging
import QueueStore
import Threading
import Transports

/// Sends a campaign's messages to be checked only: one for each language.
struct ValidateOnly {
    let credential: AppContentSettings.Credential
    let tokens: any AccessTokenStore
    let trustFile: String?

    /// How long an access token may take: the endpoint may be out of reach for good.
    private static let patience = Duration.seconds(10)

    func send(_ reading: CampaignReading, to recipient: SubscriberForPreview) async throws -> [CampaignCheck.Row] {
        let transport = try makeTransport()
        return try await withThrowingTaskGroup { group in
            group.addTask { try await transport.run() }
            defer { group.cancelAll() }
            if let fault = try await Self.fault(of: transport) {
                return [
                    CampaignCheck.Row(
                        transport: .fcm, credential: credential.name, language: "-", status: 0, answer: fault,
                        accepted: false)
                ]
            }
            var rows: [CampaignCheck.Row] = []
            for (_, message) in reading.messages {
                let languages = message.silent ? [recipient.language] : message.variants.map(\.language)
                for language in languages {
                    rows.append(try await check(message, language, reading, recipient, through: transport))
                }
            }
            await transport.close(by: .now + .seconds(5))
            return rows
        }
    }

    /// - Returns: why there is no access token to send with; nil = there is one.
    private static func fault(of transport: FCMTransport) async throws -> String? {
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                do { try await transport.ready() } catch let refused as AccessTokenRefused {
                    let reason = refused.answer.reason ?? .fcmAccessTokenRefused
                    return "\(reason.name): \(reason.remedy)"
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return "no access token within \(short(patience)); check the way to the key's token_uri"
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    private func makeTransport() throws -> FCMTransport {
        var configuration = FCMConfiguration()
        if let endpoint = credential.endpoint { configuration.endpoint = endpoint }
        configuration.trustFile = trustFile
        configuration.validateOnly = true
        return try FCMTransport(
            credential: credential.id, keyFile: credential.file, worker: try randomWorkerID(), tokens: tokens,
            configuration: configuration, logger: Logger(label: "pushfleet.check"))
    }

    private func check(
        _ message: Message, _ language: String?, _ reading: CampaignReading, _ recipient: SubscriberForPreview,
        through transport: FCMTransport
    ) async throws -> CampaignCheck.Row {
        let content = ContentVersion(
            id: .init(0), message: message, delivery: reading.campaign.delivery,
            channel: reading.faces.channel(of: message))
        let prepared = try transport.prepare(content)
        let job = OutgoingJob(
            ticket: Ticket(batch: 0, ordinal: 0), identity: JobIdentity(run: .init(0), number: recipient.id),
            address: recipient.address, language: language,
            values: content.placeholderNames.map { recipient.attributes[$0] },
            remainingSeconds: Int64(reading.campaign.delivery.ttlSeconds ?? 2_419_200))
        let (results, continuation) = AsyncStream.makeStream(of: SendResult.self)
        transport.send([job], of: prepared, beginBefore: .now + .seconds(10)) { results in
            for result in results { continuation.yield(result) }
            continuation.finish()
        }
        guard let result = await results.first(where: { _ in true }) else { throw CancellationError() }
        let isAccepted = if case .answered(.delivered) = result.fate { true } else { false }
        return CampaignCheck.Row(
            transport: .fcm, credential: credential.name, language: result.language ?? language ?? "-",
            status: Int(result.status ?? 0),
            answer: isAccepted ? "accepted" : Self.name(of: result.fate), accepted: isAccepted)
    }

    private static func name(of fate: SendResult.Fate) -> String {
        switch fate {
        case .notSent(let reason), .mayHaveLeft(let reason): reason.name
        case .tryAgain: Reason.notSent.name
        case .answered(let answer): answer.reason?.name ?? "accepted"
        }
    }
}

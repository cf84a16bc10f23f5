import ArgumentParser
import Domain
import FoundationEssentials
import HTTP2
import Logging
import Threading
import Transports

/// One campaign's message to made-up addresses through a transport: rendering, signing, encrypting, and the client below.
struct TransportBench: AsyncParsableCommand {
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case fcm, apns, webpush
    }

    static let configuration = CommandConfiguration(
        commandName: "transport", abstract: "Renders and sends many messages through a transport.",
        discussion: """
            EXAMPLE
              Bench transport fcm --endpoint https://127.0.0.1:8443 --credential key.json --campaign c.json \
            --ca-file ca.pem --addresses addresses.tsv
            """)
    @Argument(help: "fcm, apns or webpush.") var kind: Kind
    @Option(help: "Service account, APNs credential file, or VAPID key.") var credential: String
    @Option(help: "FCM: https://host:port.") var endpoint: String?
    @Option(help: "Campaign file.") var campaign: String
    @Option(help: "CA bundle to trust.") var caFile: String
    @Option(help: "A line each: address, and for Web Push after tabs p256dh and auth. Used in turn.")
    var addresses: String
    @Option(help: "Messages.") var requests = 100_000
    @Option(help: "Connections.") var connections = 4
    @Option(help: "Requests in flight on each.") var streams = 250
    @Flag(help: "Send nothing: each message is made, and comes back as too late.") var renderOnly = false

    func run() async throws {
        let transport = try makeTransport()
        let ok = try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await transport.run() }
            try await transport.ready()
            let ok = try await send(through: transport)
            tasks.cancelAll()
            return ok
        }
        await transport.close(by: .now + .seconds(5))
        print(#"{"requests": \#(requests), "ok": \#(ok)}"#)
    }

    private func send(through transport: any BenchedTransport) async throws -> Int {
        let parsed = try CampaignFile.parse(try contents(campaign), mode: .strict, meter: nil)
        guard case .inline(let message)? = parsed.message else {
            throw ValidationError("campaign: \(campaign) holds no inline message; name one that does")
        }
        let addresses = try readAddresses()
        let prepared = try transport.prepare(
            ContentVersion(id: ContentVersion.ID(1), message: message, delivery: parsed.delivery))
        let values = message.placeholderNames.count
        let flow = Flow()
        var begun = 0
        while begun < requests || flow.open > 0 {
            let room = min(requests - begun, transport.capacity * 5 / 4 - flow.open, 100)
            if room <= 0 || (room < 100 && begun + room < requests) {
                await flow.moved.wait(until: .now + .seconds(1))
                continue
            }
            let jobs = (begun..<begun + room).map { job($0, to: addresses[$0 % addresses.count], values: values) }
            begun += room
            flow.begin(room)
            let limit = renderOnly ? ContinuousClock.now - .seconds(1) : .now + .seconds(60)
            transport.send(jobs, of: prepared, beginBefore: limit) { [renderOnly] results in
                flow.end(results.count, ok: results.count { Self.isWanted($0.fate, renderOnly: renderOnly) })
            }
        }
        return flow.ok
    }

    private static func isWanted(_ fate: SendResult.Fate, renderOnly: Bool) -> Bool {
        switch fate {
        case .answered(.delivered): !renderOnly
        case .notSent(.notSent): renderOnly
        default: false
        }
    }

    private func job(_ number: Int, to address: Address, values: Int) -> OutgoingJob {
        let languages = ["en-US", "pt-BR", "de-DE", "fr", "tr", "zh-Hant-TW"]
        return OutgoingJob(
            ticket: Ticket(batch: UInt32(number / 500), ordinal: Int16(number % 500)),
            identity: JobIdentity(run: Run.ID(1), number: Int64(number)), address: address,
            language: languages[number % languages.count], values: Array(repeating: "Zoë", count: values),
            remainingSeconds: 3600)
    }

    private func readAddresses() throws -> [Address] {
        let lines = String(decoding: try contents(addresses), as: UTF8.self).split(separator: "\n")
        guard !lines.isEmpty else { throw ValidationError("addresses: \(addresses) is empty; give an address a line") }
        return lines.map { line in
            let parts = line.split(separator: "\t").map { String($0) }
            return Address(
                text: parts[0], environment: kind == .apns ? .production : .unknown,
                p256dh: parts.count > 1 ? parts[1] : nil, auth: parts.count > 2 ? parts[2] : nil)
        }
    }

    private func contents(_ path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ValidationError("\(path) cannot be read; name a file")
        }
        return [UInt8](data)
    }
}

extension TransportBench {
    private func makeTransport() throws -> any BenchedTransport {
        let worker = WorkerID("00000000-0000-4000-8000-000000000001")
        let logger = Logger(label: "bench")
        switch kind {
        case .fcm:
            var configuration = FCMConfiguration()
            if let endpoint { configuration.endpoint = endpoint }
            configuration.trustFile = caFile
            configuration.maximumConnections = connections
            configuration.streamsPerConnection = streams
            return try FCMTransport(
                credential: Credential.ID(1), keyFile: credential, worker: worker, tokens: MemoryTokens(),
                configuration: configuration, logger: logger)
        case .apns:
            var configuration = APNsConfiguration()
            configuration.trustFile = caFile
            configuration.maximumConnections = connections
            configuration.streamsPerConnection = streams
            return try APNsTransport(
                credential: Credential.ID(1), keyFile: credential, worker: worker, tokens: MemoryTokens(),
                configuration: configuration, logger: logger)
        case .webpush:
            var configuration = WebPushConfiguration()
            // The simulator's browsers are on this machine.
            configuration.endpoints = EndpointPolicy(hosts: ["127.0.0.1"], allowsPrivate: true)
            configuration.privateNetworks = ["127.0.0.0/8"].compactMap { AddressRange($0) }
            configuration.trustFile = caFile
            configuration.maximumConnections = connections
            configuration.streamsPerConnection = streams
            return try WebPushTransport(
                service: .other,
                newest: WebPushTransport.Key(
                    id: Credential.ID(1), path: credential, contact: "mailto:push@ferry.example"),
                configuration: configuration, logger: logger)
        }
    }
}

/// A transport with background work.
private protocol BenchedTransport: Transport {
    func run() async throws
    /// Waits until it can send.
    func ready() async throws
}

extension FCMTransport: BenchedTransport {}
extension APNsTransport: BenchedTransport {}
extension WebPushTransport: BenchedTransport {
    /// It needs no token.
    fileprivate func ready() async throws {}
}

/// A token row in memory.
private final class MemoryTokens: AccessTokenStore {
    private let row = Locked<SealedToken?>(nil)

    func sealedToken(credential: Credential.ID) -> SealedToken? { row.withLock { $0 } }
    func beginRefresh(
        credential: Credential.ID, by worker: WorkerID, for span: Duration, replacing seen: Instant?
    ) -> Bool { true }
    func store(_ token: SealedToken, credential: Credential.ID, by worker: WorkerID) {
        row.withLock { $0 = token }
    }
    func now() -> Instant { Instant(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }
}

import ArgumentParser
import Domain
import FoundationEssentials
import Logging
import Threading
import Transports

/// One campaign's message to made-up addresses through the FCM transport: rendering, and the client below it.
struct FCMBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fcm", abstract: "Renders and sends many messages through the FCM transport.",
        discussion:
            "EXAMPLE\n  Bench fcm --endpoint https://127.0.0.1:8443 --account key.json --campaign c.json --ca-file ca.pem"
    )
    @Option(help: "https://host:port.") var endpoint: String
    @Option(help: "Service account key file.") var account: String
    @Option(help: "Campaign file.") var campaign: String
    @Option(help: "CA bundle to trust.") var caFile: String
    @Option(help: "Messages.") var requests = 100_000
    @Option(help: "Connections.") var connections = 4
    @Option(help: "Requests in flight on each.") var streams = 250

    func run() async throws {
        var configuration = FCMConfiguration()
        configuration.endpoint = endpoint
        configuration.trustFile = caFile
        configuration.maximumConnections = connections
        configuration.streamsPerConnection = streams
        let transport = try FCMTransport(
            credential: Credential.ID(1), keyFile: account, worker: WorkerID("00000000-0000-4000-8000-000000000001"),
            tokens: MemoryTokens(), configuration: configuration, logger: Logger(label: "bench"))
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

    private func send(through transport: FCMTransport) async throws -> Int {
        let file = [UInt8](FileManager.default.contents(atPath: campaign) ?? Data())
        let parsed = try CampaignFile.parse(file, mode: .strict, meter: nil)
        guard case .inline(let message)? = parsed.message else {
            throw ValidationError("campaign: \(campaign) holds no inline message")
        }
        let prepared = try transport.prepare(
            ContentVersion(id: ContentVersion.ID(1), message: message, delivery: parsed.delivery))
        let flow = Flow()
        var begun = 0
        while begun < requests || flow.open > 0 {
            let room = min(requests - begun, transport.capacity * 5 / 4 - flow.open, 100)
            if room <= 0 || (room < 100 && begun + room < requests) {
                await flow.moved.wait(until: .now + .seconds(1))
                continue
            }
            let jobs = (begun..<begun + room).map { job($0, values: message.placeholderNames.count) }
            begun += room
            flow.begin(room)
            transport.send(jobs, of: prepared, beginBefore: .now + .seconds(60)) { results in
                flow.end(
                    results.count,
                    ok: results.count { if case .answered(.delivered) = $0.fate { true } else { false } })
            }
        }
        return flow.ok
    }

    private func job(_ number: Int, values: Int) -> OutgoingJob {
        let languages = ["en-US", "pt-BR", "de-DE", "fr", "tr", "zh-Hant-TW"]
        let digits = String(number, radix: 16)
        return OutgoingJob(
            ticket: Ticket(batch: UInt32(number / 500), ordinal: Int16(number % 500)),
            identity: JobIdentity(run: Run.ID(1), number: Int64(number)),
            address: Address(
                text: digits + String(repeating: "0", count: 22 - digits.utf8.count) + ":APA91b"
                    + String(repeating: "c", count: 134), environment: .unknown),
            language: languages[number % languages.count], values: Array(repeating: "Zoë", count: values),
            remainingSeconds: 3600)
    }
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

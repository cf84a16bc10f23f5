import Delivery
import Domain
import Threading

/// A way out that keeps what it was given and answers when, and as, the test says.
final class ScriptedTransport: Transport {
    struct Sent: Sendable {
        var job: OutgoingJob
        var beginBefore: ContinuousClock.Instant
        var sink: ResultSink
    }

    private struct Prepared: PreparedMessage {}

    let capacity: Int
    /// Where every address proves to belong, if anywhere.
    private let environment: PushEnvironment?
    private let sends = Locked<[Sent]>([])
    /// nil = no answer by itself.
    private let answer: @Sendable (OutgoingJob) -> SendResult.Fate?

    init(
        capacity: Int = 100, environment: PushEnvironment? = nil,
        answer: @escaping @Sendable (OutgoingJob) -> SendResult.Fate? = { _ in nil }
    ) {
        self.capacity = capacity
        self.environment = environment
        self.answer = answer
    }

    static let delivering = { @Sendable (_: OutgoingJob) -> SendResult.Fate? in .answered(.delivered(messageID: "m")) }

    var sent: [Sent] { sends.withLock { $0 } }
    var sentNumbers: [Int64] { sent.map(\.job.identity.number) }

    func prepare(_ content: ContentVersion) throws -> any PreparedMessage { Prepared() }

    func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink
    ) {
        sends.withLock { $0 += jobs.map { Sent(job: $0, beginBefore: beginBefore, sink: sink) } }
        let results = jobs.compactMap { job in answer(job).map { result(job, $0) } }
        if !results.isEmpty { sink(results) }
    }

    /// Answers something that was sent.
    func answer(_ index: Int, _ fate: SendResult.Fate = .answered(.delivered(messageID: "m"))) {
        let sent = sent[index]
        sent.sink([result(sent.job, fate)])
    }

    private func result(_ job: OutgoingJob, _ fate: SendResult.Fate) -> SendResult {
        let isAnswered = if case .answered = fate { true } else { false }
        var result = SendResult(
            ticket: job.ticket, fate: fate, status: isAnswered ? 200 : nil, language: "en", latency: .milliseconds(5))
        result.environment = environment
        return result
    }

    func close(by deadline: ContinuousClock.Instant) async {}
}

/// Gives that transport to every route that has none of its own.
struct ScriptedDirectory: TransportDirectory {
    var transport: ScriptedTransport?
    var others: [TransportKind: ScriptedTransport] = [:]
    func transport(for route: Route) async throws -> any Transport {
        guard let transport = others[route.transport] ?? transport else {
            throw TransportUnavailable(reason: .credentialUnusable, description: "file: it is missing")
        }
        return transport
    }
    func fingerprint(of credential: CredentialReference) async -> [UInt8] { [1] }
    func usedFingerprint(of credential: CredentialReference) async -> [UInt8]? { [1] }
    func close(by deadline: ContinuousClock.Instant) async {}
}

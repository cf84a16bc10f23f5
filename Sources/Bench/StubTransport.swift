import Delivery
import Domain

/// Delivers every job at once and sends nothing.
final class StubTransport: Transport {
    private struct Message: PreparedMessage {}

    let capacity = 2000

    func prepare(_ content: ContentVersion) -> any PreparedMessage { Message() }

    func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink
    ) {
        sink(
            jobs.map {
                SendResult(
                    ticket: $0.ticket, fate: .answered(.delivered(messageID: "projects/demo/messages/1")), status: 200,
                    language: "en", latency: .zero)
            })
    }

    func close(by deadline: ContinuousClock.Instant) {}
}

struct StubTransports: TransportDirectory {
    private let transport = StubTransport()

    func transport(for route: Route) -> any Transport { transport }
    func fingerprint(of credential: CredentialReference) -> [UInt8] { [1] }
    func usedFingerprint(of credential: CredentialReference) -> [UInt8]? { [1] }
    func close(by deadline: ContinuousClock.Instant) {}
}

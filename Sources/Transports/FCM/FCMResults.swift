import Domain
import FoundationEssentials
import HTTP2

/// Turns what the client reports into the domain's words, for requests that carried one access token.
struct FCMResults: Sendable {
    let tokens: AccessTokens
    let generation: UInt64
    let message: FCMPreparedMessage

    func convert(_ results: [HTTP2Result]) -> [SendResult] {
        var tookToken = false
        let converted = results.map { result in
            let id = FCMRequestID(rawValue: result.id)
            var sent = SendResult(
                ticket: id.ticket, fate: .notSent(.notSent), language: message.bodies[id.body].language,
                latency: result.begunAt.map { result.endedAt - $0 })
            switch result.outcome {
            case .answered(let response):
                sent.status = Int16(truncatingIfNeeded: response.status)
                sent.fate = fate(of: response)
                tookToken = tookToken || response.status == 200
            case .notSent: break
            case .mayHaveBeenSent(let fault): sent.fate = .mayHaveLeft(Self.reason(for: fault))
            }
            return sent
        }
        if tookToken { tokens.prove(generation) }
        return converted
    }

    private func fate(of response: HTTP2Response) -> SendResult.Fate {
        if response.status == 200 { return .answered(.delivered(messageID: FCMMessageName.id(in: response.body))) }
        let answer = FCMClassifier.classify(
            FCMClassifier.Response(
                status: response.status, retryAfter: response.field("retry-after"), date: response.field("date"),
                body: response.body),
            now: Int64(Date().timeIntervalSince1970))
        guard answer == .credential(.fcmUnauthenticated) else { return .answered(answer) }
        return switch tokens.reject(generation) {
        case .replaced: .notSent(.fcmUnauthenticated)
        case .credentialFault: .answered(answer)
        }
    }

    /// What happened after the request had begun to leave.
    static func reason(for fault: HTTP2Fault) -> Reason {
        switch fault {
        case .timedOut: .timedOut
        case .streamReset: .streamReset
        case .connectionLost, .refusedStream, .goAway, .connectFailed, .addressRefused, .tooLate, .closed:
            .connectionLost
        }
    }
}

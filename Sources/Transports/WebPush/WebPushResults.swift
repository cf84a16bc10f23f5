import Domain
import FoundationEssentials
import HTTP2

/// Turns what the client reports into the domain's words.
struct WebPushResults: Sendable {
    let message: WebPushPreparedMessage
    let service: WebPushService

    func convert(_ results: [HTTP2Result]) -> [SendResult] {
        results.map { result in
            let id = WebPushRequestID(rawValue: result.id)
            var sent = SendResult(
                ticket: id.ticket, fate: .notSent(.notSent), language: message.bodies[id.body].language,
                latency: result.begunAt.map { result.endedAt - $0 })
            switch result.outcome {
            case .answered(let response):
                sent.status = Int16(truncatingIfNeeded: response.status)
                sent.fate = .answered(Self.answer(response))
            case .notSent(let fault): sent.fate = fate(ofUnsent: fault)
            case .mayHaveBeenSent(let fault): sent.fate = .mayHaveLeft(Self.reason(for: fault))
            }
            return sent
        }
    }

    /// A browser's own service that is out of reach is waited for, free of charge, whatever a name server says of it. Any
    /// other host is a stranger's, who may have named one that never answers: that costs attempts.
    private func fate(ofUnsent fault: HTTP2Fault) -> SendResult.Fate {
        switch fault {
        case .addressRefused where service == .other: .answered(.refused(.webpushEndpointRefused))
        case .connectFailed where service == .other: .answered(.retry(.webpushUnreachable, after: nil))
        case .addressRefused, .connectFailed, .timedOut, .connectionLost, .streamReset, .refusedStream, .goAway,
            .tooLate, .closed:
            .notSent(.notSent)
        }
    }

    private static func answer(_ response: HTTP2Response) -> Answer {
        WebPushClassifier.classify(
            WebPushClassifier.Response(
                status: response.status, retryAfter: response.field("retry-after"), date: response.field("date"),
                location: response.field("location"), wnsStatus: response.field("x-wns-status"),
                wnsError: response.field("x-wns-error-description"), body: response.body),
            now: Int64(Date().timeIntervalSince1970))
    }

    /// What happened after the request had begun to leave.
    private static func reason(for fault: HTTP2Fault) -> Reason {
        switch fault {
        case .timedOut: .timedOut
        case .streamReset: .streamReset
        case .connectionLost, .refusedStream, .goAway, .connectFailed, .addressRefused, .tooLate, .closed:
            .connectionLost
        }
    }
}

import Domain
import HTTP2

/// Requests given to one environment's connections, and what becomes of them. Most are answered once and that is it; a few
/// go back for a second try: in the other environment, or over another connection. The worker begins it, as it does all
/// else, so that every rate holds.
struct APNsSubmission: Sendable {
    let transport: APNsTransport
    let message: APNsPreparedMessage
    let jobs: [OutgoingJob]
    let requests: [HTTP2Request]
    let environment: PushEnvironment
    let token: TokenState.Installed
    let beginBefore: ContinuousClock.Instant
    let sink: ResultSink
    /// Why they go a second time; nil = they do not.
    let secondTry: SecondTry?

    private var isElsewhere: Bool {
        if case .otherEnvironment = secondTry { true } else { false }
    }

    func begin() {
        transport.client(environment).submit(
            requests, shared: transport.shared(message, token), beginBefore: beginBefore,
            deadline: transport.requestDeadline
        ) { take($0) }
    }

    private func take(_ results: [HTTP2Result]) {
        let converted = results.map(convert)
        if converted.contains(where: { $0.status == 200 }) { transport.tokens.prove(token.generation) }
        sink(converted)
    }

    // MARK: One result

    private func convert(_ result: HTTP2Result) -> SendResult {
        let id = FCMRequestID(rawValue: result.id)
        var sent = SendResult(
            ticket: id.ticket, fate: .notSent(.notSent), language: message.bodies[id.body].language,
            latency: result.begunAt.map { result.endedAt - $0 })
        switch result.outcome {
        case .answered(let response):
            sent.status = Int16(truncatingIfNeeded: response.status)
            let begunAt = result.begunAt ?? result.endedAt
            let answer = response.status == 200 ? delivered(response) : classify(response, begunAt, id.ticket)
            sent.fate = secondTry(for: answer, begunAt).map { .tryAgain($0) } ?? fate(of: answer, begunAt)
            if isElsewhere, case .answered(.delivered) = sent.fate { sent.environment = environment }
        case .notSent:
            // The answer of the first try stands, and was an attempt.
            switch secondTry {
            case .otherEnvironment: sent.fate = .answered(.retry(.apnsBadDeviceToken, after: nil))
            case .otherConnection(let reason): sent.fate = .answered(.retry(reason, after: nil))
            case nil: break
            }
        case .mayHaveBeenSent(let fault): sent.fate = .mayHaveLeft(FCMResults.reason(for: fault))
        }
        return sent
    }

    private func delivered(_ response: HTTP2Response) -> Answer { .delivered(messageID: response.field("apns-id")) }

    private func classify(_ response: HTTP2Response, _ begunAt: ContinuousClock.Instant, _ ticket: Ticket) -> Answer {
        let scope = transport.source.key.scope
        let answer = APNsClassifier.classify(
            APNsClassifier.Response(
                status: response.status, retryAfter: response.field("retry-after"), date: response.field("date"),
                body: response.body),
            APNsClassifier.Circumstances(
                // One environment is all that the key has, or neither knows the token.
                environmentIsProven: scope != .both || isElsewhere,
                sentAt: token.clock.instant(at: begunAt)))
        // A message that is over before Apple's quarter of an hour may try after a minute.
        if response.field("retry-after") == nil, case .retry(let reason, APNsClassifier.serverFaultDelay?) = answer,
            let job = jobs.first(where: { $0.ticket == ticket }),
            .seconds(job.remainingSeconds) <= APNsClassifier.serverFaultDelay
        {
            return .retry(reason, after: .seconds(60))
        }
        return answer
    }

    private func secondTry(for answer: Answer, _ begunAt: ContinuousClock.Instant) -> SecondTry? {
        guard secondTry == nil else { return nil }
        switch answer {
        case .refused(.apnsBadDeviceToken): return .otherEnvironment(environment == .sandbox ? .production : .sandbox)
        case .retry(let reason, after: .zero?) where Self.isOfConnection(reason),
            .credential(let reason) where Self.isOfConnection(reason):
            transport.client(environment).renewConnections(madeBy: begunAt)
            return .otherConnection(reason)
        default: return nil
        }
    }

    private static func isOfConnection(_ reason: Reason) -> Bool {
        reason == .apnsShutdown || reason == .apnsIdleTimeout || reason == .apnsUnrelatedKeyID
    }

    private func fate(of answer: Answer, _ begunAt: ContinuousClock.Instant) -> SendResult.Fate {
        switch answer {
        case .credential(.apnsExpiredProviderToken):
            // Apple goes on refusing whatever comes over a connection that had an expired token.
            transport.client(environment).renewConnections(madeBy: begunAt)
            return transport.expire(token, at: .now).map { .answered($0) } ?? .notSent(.apnsExpiredProviderToken)
        case .credential, .config:
            // The key may lack the other environment: that is no fault of the first, nor a proof against the address.
            if isElsewhere { return .answered(.refused(.apnsBadDeviceToken)) }
            transport.tokens.lookAgain()
            return .answered(answer)
        case .retry(.apnsTooManyProviderTokenUpdates, _):
            transport.holdBack(token)
            return .answered(answer)
        case .retry(let reason, after: .zero?): return .answered(.retry(reason, after: nil))
        case .delivered, .unregistered, .refused, .retry, .slowDown, .wrongProject: return .answered(answer)
        }
    }
}

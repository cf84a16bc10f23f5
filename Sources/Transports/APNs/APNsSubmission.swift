import Domain
import HTTP2

/// Requests given to one environment's connections, and what becomes of them. Most are answered once and that is it; a few
/// go a second time, within the same call and its time: to the other environment, or over another connection.
struct APNsSubmission: Sendable {
    let transport: APNsTransport
    let message: APNsPreparedMessage
    let jobs: [OutgoingJob]
    let requests: [HTTP2Request]
    let environment: PushEnvironment
    let token: TokenState.Installed
    let beginBefore: ContinuousClock.Instant
    let sink: ResultSink
    /// Why they go a second time.
    var second: Second?

    enum Second: Sendable, Equatable {
        /// The environment tried first does not know the token.
        case otherEnvironment
        /// The connection was at fault, as the answer's reason says.
        case otherConnection(Reason)
    }

    private var isElsewhere: Bool { second == .otherEnvironment }

    func begin() {
        transport.client(environment).submit(
            requests, shared: transport.shared(message, token), beginBefore: beginBefore,
            deadline: transport.requestDeadline
        ) { take($0) }
    }

    private func take(_ results: [HTTP2Result]) {
        var converted: [SendResult] = []
        converted.reserveCapacity(results.count)
        var elsewhere: [HTTP2Request] = []
        var again: [Reason: [HTTP2Request]] = [:]
        var tookToken = false
        for result in results {
            switch step(result) {
            case .done(let sent):
                converted.append(sent)
                tookToken = tookToken || sent.status == 200
            case .second(.otherEnvironment): if let request = request(result.id) { elsewhere.append(request) }
            case .second(.otherConnection(let reason)):
                if let request = request(result.id) { again[reason, default: []].append(request) }
            }
        }
        if tookToken { transport.tokens.prove(token.generation) }
        if !converted.isEmpty { sink(converted) }
        if !elsewhere.isEmpty { send(elsewhere, environment == .sandbox ? .production : .sandbox, .otherEnvironment) }
        for (reason, requests) in again { send(requests, environment, .otherConnection(reason)) }
    }

    private func send(_ requests: [HTTP2Request], _ environment: PushEnvironment, _ second: Second) {
        APNsSubmission(
            transport: transport, message: message, jobs: jobs, requests: requests, environment: environment,
            token: token, beginBefore: beginBefore, sink: sink, second: second
        ).begin()
    }

    // MARK: One result

    private enum Step {
        case done(SendResult)
        case second(Second)
    }

    private func step(_ result: HTTP2Result) -> Step {
        let id = FCMRequestID(rawValue: result.id)
        var sent = SendResult(
            ticket: id.ticket, fate: .notSent(.notSent), language: message.bodies[id.body].language,
            latency: result.begunAt.map { result.endedAt - $0 })
        switch result.outcome {
        case .answered(let response):
            sent.status = Int16(truncatingIfNeeded: response.status)
            let begunAt = result.begunAt ?? result.endedAt
            let answer = response.status == 200 ? delivered(response) : classify(response, begunAt, id.ticket)
            if let second = secondTry(for: answer, begunAt) { return .second(second) }
            sent.fate = fate(of: answer, begunAt)
            if isElsewhere, case .answered(.delivered) = sent.fate { sent.environment = environment }
        case .notSent:
            // The answer of the first try stands, and was an attempt.
            switch second {
            case .otherEnvironment: sent.fate = .answered(.retry(.apnsBadDeviceToken, after: nil))
            case .otherConnection(let reason): sent.fate = .answered(.retry(reason, after: nil))
            case nil: break
            }
        case .mayHaveBeenSent(let fault): sent.fate = .mayHaveLeft(FCMResults.reason(for: fault))
        }
        return .done(sent)
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

    private func secondTry(for answer: Answer, _ begunAt: ContinuousClock.Instant) -> Second? {
        guard second == nil else { return nil }
        switch answer {
        case .refused(.apnsBadDeviceToken): return .otherEnvironment
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

    private func request(_ id: UInt64) -> HTTP2Request? { requests.first { $0.id == id } }
}

import HTTP2

/// `POST /v1/projects/{project}/messages:send`.
struct FCMEndpoint: Sendable {
    /// What became of a send, for counters and journal.
    private struct Outcome {
        var status: Int
        var reason: String
        var fault: Fault?
        var device: UInt64?
        var id: ArraySlice<UInt8>?
        var isAccepted = false
        var isValidation = false
    }

    private static let slowness = Duration.seconds(2)
    private static let internalError: UInt32 = 2  // RFC 9113 §7
    private static let applePrefix = Array("apple-".utf8)
    private static let fakeID = Array("fake_message_id".utf8)

    let seed: UInt64
    let projects: Set<String>

    /// - Parameter project: the project's id; of a path that names its number, the id too.
    func answer(
        _ request: ProviderRequest, project: String, at now: ContinuousClock.Instant, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        // Checked when the script was read.
        for change in state.script.due(at: now) { try? state.faults.change(change) }
        if let refusal = gate(request, project, now, state) { return refuse(refusal, at: now, &state) }
        let reader: SendRequestReader
        do { reader = try SendRequestReader(request.body) } catch {
            return refuse(.refused(error), at: now, &state)
        }
        if let wait = state.faults.takeFromQuota(at: now) {
            let seconds = Int((wait / .seconds(1)).rounded(.up))
            return refuse(.quotaExceeded(retryAfter: seconds), at: now, &state)
        }
        state.counts.notePayload(reader.request.sizes.payload)
        guard case .device(let token)? = reader.request.target else {
            return answerGroup(reader, project, now, &state)
        }
        return answerDevice(token, reader, project, now, &state)
    }

    /// What FCM decides before it reads the body.
    private func gate(
        _ request: ProviderRequest, _ project: String, _ now: ContinuousClock.Instant, _ state: SimulatorState
    ) -> FCMAnswer? {
        guard request.method == "POST" else { return .notFound }
        guard let authorization = request.authorization else { return .missingCredential }
        let grantedProject: String
        switch state.tokens.look(up: authorization, at: now) {
        case .granted(let project): grantedProject = project
        case .expired: return .expiredToken
        case .unknown: return .unauthenticated
        }
        guard projects.contains(project) else { return .unknownProject }
        guard grantedProject == project else { return .otherProject }
        guard request.hasContent(ProviderRequest.json) else { return .wrongContentType }
        return nil
    }

    // MARK: By target

    private func answerGroup(
        _ reader: SendRequestReader, _ project: String, _ now: ContinuousClock.Instant, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        var outcome = Outcome(status: 200, reason: "ok", isAccepted: true)
        outcome.isValidation = reader.request.parts.contains(.validateOnly)
        if !outcome.isValidation { state.devices.acceptGroup() }
        let response = success(project, outcome, &state)
        finish(outcome, at: now, &state)
        return delay(response, draw: UInt64(state.counts.requests), state)
    }

    private func answerDevice(
        _ token: JSONText, _ reader: SendRequestReader, _ project: String, _ now: ContinuousClock.Instant,
        _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        let device = reader.scanner.hash(token, seed: seed)
        let attempts = state.devices.attempt(device)
        let text = reader.scanner.content(token)
        if text.starts(with: Self.applePrefix), reader.isDataOnly, !reader.request.parts.contains(.applePriority5) {
            return refuse(.refused(.appleDataPriority), at: now, &state)
        }
        var outcome = Outcome(status: 200, reason: "ok", isAccepted: true)
        outcome.device = device
        outcome.id = reader.request.id.map { reader.scanner.content($0) }
        outcome.fault =
            Fault.asked(by: text, attempts: attempts)
            ?? state.faults.drawFCM(device: device, attempts: attempts)
        outcome.isValidation = reader.request.parts.contains(.validateOnly)
        outcome.isAccepted = outcome.fault?.isAccepted ?? true
        if outcome.isAccepted, !outcome.isValidation { accept(device, reader, &state) }
        guard let fault = outcome.fault else {
            let response = success(project, outcome, &state)
            finish(outcome, at: now, &state)
            if case .none = state.faults.latency { return .respond(response) }
            return delay(response, draw: Hash64.combine(device, UInt64(attempts) &+ seed), state)
        }
        return fail(fault, outcome, project, Hash64.combine(device, UInt64(attempts) &+ seed), now, &state)
    }

    private func accept(_ device: UInt64, _ reader: SendRequestReader, _ state: inout SimulatorState) {
        let request = reader.request
        let appearance: DeviceModel.Appearance
        if request.parts.contains(.notification) {
            appearance = .system(tagged: request.tag != nil)
        } else {
            let isShown = request.parts.contains(.text) && !request.parts.contains(.silent)
            appearance = isShown ? .deduplicated : .hidden
        }
        let id = request.id.map { (hash: reader.scanner.hash($0, seed: seed), text: reader.scanner.content($0)) }
        state.devices.accept(device: device, id: id, as: appearance)
    }

    // MARK: Answers

    private func fail(
        _ fault: Fault, _ outcome: Outcome, _ project: String, _ draw: UInt64, _ now: ContinuousClock.Instant,
        _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        let retryAfter = state.faults.retryAfter
        let answer: FCMAnswer? =
            switch fault {
            case .unregistered: .unregistered
            case .bad: .badToken
            case .mismatch: .mismatch
            case .quota: .quotaExceeded(retryAfter: retryAfter)
            case .e401: .unauthenticated
            case .e500: .internalError
            case .e503: .unavailable(retryAfter: retryAfter)
            case .html502: .badGateway
            case .thirdparty: .thirdPartyAuth
            case .empty: .empty
            case .slow, .reset, .stall, .goaway, .close, .drop, .refuse, .goawaybelow: nil
            }
        var outcome = outcome
        if let answer {
            (outcome.status, outcome.reason) = (answer.response.status, answer.reason)
            finish(outcome, at: now, &state)
            return delay(answer.response, draw: draw, state)
        }
        if fault == .slow || fault == .goaway {
            let response = success(project, outcome, &state)
            finish(outcome, at: now, &state)
            return fault == .slow ? .respondAfter(Self.slowness, response) : .goAway(answeringThis: response)
        }
        (outcome.status, outcome.reason) = (Counts.noAnswer, fault.rawValue)
        finish(outcome, at: now, &state)
        return switch fault {
        case .reset: .reset(code: Self.internalError)
        case .close: .closeConnection(hard: true)
        case .refuse: .refuse
        case .goawaybelow: .goAwayUnprocessed
        default: .stall
        }
    }

    private func refuse(
        _ answer: FCMAnswer, at now: ContinuousClock.Instant, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        finish(Outcome(status: answer.response.status, reason: answer.reason), at: now, &state)
        return delay(answer.response, draw: Hash64.combine(seed, UInt64(state.counts.requests)), state)
    }

    private func success(
        _ project: String, _ outcome: Outcome, _ state: inout SimulatorState
    ) -> HTTP2ServerResponse {
        var body = Array(#"{"name":"projects/"#.utf8)
        body.reserveCapacity(128)
        body.append(contentsOf: project.utf8)
        body.append(contentsOf: "/messages/".utf8)
        body.append(contentsOf: outcome.isValidation ? Self.fakeID : state.nextMessageID())
        body.append(contentsOf: #""}"#.utf8)
        return .json(200, body)
    }

    private func delay(
        _ response: HTTP2ServerResponse, draw: UInt64, _ state: SimulatorState
    ) -> HTTP2ServerAction {
        let latency = state.faults.latency.draw(draw)
        return latency == .zero ? .respond(response) : .respondAfter(latency, response)
    }

    private func finish(_ outcome: Outcome, at now: ContinuousClock.Instant, _ state: inout SimulatorState) {
        if outcome.status == 200, outcome.reason == "ok" {
            state.counts.countOK(validateOnly: outcome.isValidation)
        } else {
            state.counts.count(status: outcome.status, reason: outcome.reason)
        }
        state.journal?.append(
            at: now, device: outcome.device, id: outcome.id, status: outcome.status,
            fault: outcome.fault?.rawValue ?? (outcome.status == 200 ? nil : outcome.reason))
    }
}

import HTTP2

/// `POST /3/device/{token}`.
struct APNsEndpoint: Sendable {
    /// What became of a send, for counters and journal.
    private struct Outcome {
        var status = 200
        var reason = "ok"
        var fault: String?
        var device: UInt64?
        var id: ArraySlice<UInt8>?
    }

    private static let slowness = Duration.seconds(2)
    private static let internalError: UInt32 = 2  // RFC 9113 §7

    let seed: UInt64

    /// - Parameter wallClock: seconds since 1970.
    func answer(
        _ request: ProviderRequest, at now: ContinuousClock.Instant, wallClock: Double, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        // Checked when the script was read.
        for change in state.script.due(at: now) { try? state.faults.change(change) }
        let fields = request.apns
        do throws(APNsRefusal) {
            let checked = try APNsRequest(request, fields)
            switch state.providerTokens.check(request.authorization, fields, at: now, wallClock: wallClock) {
            case .failure(let refusal): throw refusal
            case .success(let key): try checked.check(topicOf: key)
            }
            if state.faults.takeFromQuota(at: now) != nil { throw APNsRefusal(.tooManyRequests) }
            let payload = try checked.payload(request.body)
            state.counts.notePayload(request.body.count)
            return answer(checked, payload, fields, at: now, wallClock: wallClock, &state)
        } catch {
            finish(Outcome(status: error.reason.status, reason: error.reason.rawValue), at: now, &state)
            let draw = Hash64.combine(seed, UInt64(state.counts.requests))
            return delay(refusal(error.reason, fields, wallClock), draw: draw, state)
        }
    }

    /// To a device whose token is well-formed, by a sender who may.
    private func answer(
        _ checked: APNsRequest, _ payload: APNsPayload, _ fields: APNsFields, at now: ContinuousClock.Instant,
        wallClock: Double, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        var outcome = Outcome()
        let device = Hash64.hash(checked.token, checked.token.indices, seed: seed)
        let attempts = state.devices.attempt(device)
        outcome.device = device
        outcome.id = payload.id.map { payload.scanner.content($0) }
        let draw = Hash64.combine(device, UInt64(attempts) &+ seed)
        switch trouble(checked.token[...], device, attempts, fields, state) {
        case .reason(let reason)?:
            (outcome.status, outcome.reason, outcome.fault) = (reason.status, reason.rawValue, reason.rawValue)
            finish(outcome, at: now, &state)
            return delay(refusal(reason, fields, wallClock), draw: draw, state)
        case .fault(let fault)?:
            if fault.isAccepted { accept(device, checked, payload, fields, &state) }
            outcome.fault = fault.rawValue
            return fail(fault, outcome, fields, draw, now, &state)
        case nil:
            accept(device, checked, payload, fields, &state)
            finish(outcome, at: now, &state)
            return delay(success(fields, draw), draw: draw, state)
        }
    }

    private func trouble(
        _ text: ArraySlice<UInt8>, _ device: UInt64, _ attempts: UInt32, _ fields: APNsFields, _ state: SimulatorState
    ) -> APNsToken.Trouble? {
        let token = APNsToken(text, attempts: attempts)
        if let isSandbox = token.isSandbox, isSandbox != fields.isSandbox { return .reason(.badDeviceToken) }
        if let trouble = token.trouble { return Self.inAppleWords(trouble) }
        if let reason = state.faults.apns.draw(device: device, attempts: attempts) { return .reason(reason) }
        return state.faults.rates.draw(device: device, attempts: attempts).map { Self.inAppleWords(.fault($0)) }
    }

    /// Faults that FCM answers in words of its own.
    private static func inAppleWords(_ trouble: APNsToken.Trouble) -> APNsToken.Trouble {
        guard case .fault(let fault) = trouble else { return trouble }
        return switch fault {
        case .unregistered: .reason(.unregistered)
        case .bad: .reason(.badDeviceToken)
        case .mismatch: .reason(.deviceTokenNotForTopic)
        case .quota: .reason(.tooManyRequests)
        case .e401: .reason(.expiredProviderToken)
        case .e500: .reason(.internalServerError)
        case .e503: .reason(.serviceUnavailable)
        case .thirdparty: .reason(.invalidProviderToken)
        case .html502, .slow, .empty, .reset, .stall, .goaway, .close, .drop, .refuse, .goawaybelow: trouble
        }
    }

    private func accept(
        _ device: UInt64, _ checked: APNsRequest, _ payload: APNsPayload, _ fields: APNsFields,
        _ state: inout SimulatorState
    ) {
        let id = payload.id.map { (hash: payload.scanner.hash($0, seed: seed), text: payload.scanner.content($0)) }
        let appearance: DeviceModel.Appearance
        if !payload.hasAlert {
            appearance = .hidden
        } else if let collapseID = fields.collapseID {
            appearance = .replacing(Hash64.hash(collapseID, seed: seed))
        } else {
            appearance = .system(tagged: false)
        }
        state.devices.accept(device: device, id: id, as: appearance)
    }

    // MARK: Answers

    private func fail(
        _ fault: Fault, _ outcome: Outcome, _ fields: APNsFields, _ draw: UInt64, _ now: ContinuousClock.Instant,
        _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        var outcome = outcome
        switch fault {
        case .slow, .goaway, .empty:
            finish(outcome, at: now, &state)
            let response = success(fields, draw)
            if fault == .empty { return delay(response, draw: draw, state) }
            return fault == .slow ? .respondAfter(Self.slowness, response) : .goAway(answeringThis: response)
        case .html502:
            (outcome.status, outcome.reason) = (502, "BAD_GATEWAY")
            finish(outcome, at: now, &state)
            return delay(.html(502, "Bad gateway"), draw: draw, state)
        default:
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
    }

    private func success(_ fields: APNsFields, _ draw: UInt64) -> HTTP2ServerResponse {
        var headers = [("apns-id", id(fields, draw))]
        if fields.isSandbox { headers.append(("apns-unique-id", Self.uuid(draw ^ 1))) }
        return HTTP2ServerResponse(status: 200, fields: headers)
    }

    private func refusal(_ reason: APNsReason, _ fields: APNsFields, _ wallClock: Double) -> HTTP2ServerResponse {
        let since = reason.status == 410 ? #","timestamp":\#(Int64(wallClock * 1000))"# : ""
        return HTTP2ServerResponse(
            status: reason.status,
            fields: [("apns-id", id(fields, seed)), ("content-type", "application/json")],
            body: Array(#"{"reason":"\#(reason.rawValue)"\#(since)}"#.utf8))
    }

    /// The request's own, or a new one.
    private func id(_ fields: APNsFields, _ draw: UInt64) -> String {
        fields.id.map { String(decoding: $0, as: UTF8.self) } ?? Self.uuid(draw)
    }

    private static func uuid(_ draw: UInt64) -> String {
        var hex: [UInt8] = []
        for half in [Hash64.combine(draw, 1), Hash64.combine(draw, 2)] { JSONWriter.appendHex(half, to: &hex) }
        let text = String(decoding: hex, as: UTF8.self)
        var parts: [Substring] = []
        var rest = text[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }

    private func delay(_ response: HTTP2ServerResponse, draw: UInt64, _ state: SimulatorState) -> HTTP2ServerAction {
        let latency = state.faults.latency.draw(draw)
        return latency == .zero ? .respond(response) : .respondAfter(latency, response)
    }

    private func finish(_ outcome: Outcome, at now: ContinuousClock.Instant, _ state: inout SimulatorState) {
        if outcome.status == 200 {
            state.counts.countOK(validateOnly: false)
        } else {
            state.counts.count(status: outcome.status, reason: outcome.reason)
        }
        state.journal?.append(
            at: now, device: outcome.device, id: outcome.id, status: outcome.status,
            fault: outcome.fault ?? (outcome.status == 200 ? nil : outcome.reason))
    }
}

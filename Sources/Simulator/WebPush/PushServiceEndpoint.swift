import Crypto
import FoundationEssentials
import HTTP2
import Threading

/// `POST /push/…`: the browsers' push services, and the browsers behind them, which open what they get.
struct PushServiceEndpoint: Sendable {
    /// What became of a push, for counters and journal.
    private struct Outcome {
        var status: Int
        var reason: String
        var fault: Fault?
        var device: UInt64?
        var id: ArraySlice<UInt8>?
    }

    private static let slowness = Duration.seconds(2)
    private static let internalError: UInt32 = 2  // RFC 9113 §7
    private static let away = Array("away-".utf8)

    let seed: UInt64

    func answer(
        _ request: ProviderRequest, _ path: PushPath, at now: ContinuousClock.Instant, _ state: Locked<SimulatorState>
    ) -> HTTP2ServerAction {
        let push: PushRequest
        do { push = try PushRequest(request, path.manners) } catch {
            return refuse(.malformed(error, path.manners), at: now, state)
        }
        let origin = "https://" + String(decoding: request.header(":authority") ?? [], as: UTF8.self)
        let wallClock = Int64(Date().timeIntervalSince1970)
        do throws(VAPIDCheck.Refusal) {
            try state.withLock { state throws(VAPIDCheck.Refusal) in
                try state.vapid.check(request.authorization, for: path, origin: origin, now: wallClock)
            }
        } catch {
            return refuse(.refused(error, path.manners), at: now, state)
        }
        // Without the lock, since nothing costs more.
        let read: Reading
        do { read = try self.read(request.body, path) } catch {
            return refuse(.malformed(error, path.manners), at: now, state)
        }
        return state.withLock { decide(request, path, push, read, at: now, &$0) }
    }

    // MARK: The browser

    private enum Reading {
        case nothing
        case message(PushMessage)
        /// Sealed for somebody else, or no JSON: the service cannot know, the browser shows nothing of it.
        case unreadable
    }

    /// - Throws: `.body` for what a push service can see to be no record.
    private func read(_ body: [UInt8], _ path: PushPath) throws(PushRequest.Fault) -> Reading {
        if body.isEmpty { return .nothing }
        guard let opener = try? BrowserKeys(token: path.token[...]).opener() else { return .unreadable }
        do throws(EncryptedContent.Refusal) {
            let text = try opener.open(body)
            return (try? PushMessage(text)).map { .message($0) } ?? .unreadable
        } catch {
            switch error {
            case .headerShort, .keyIDLength, .recordSizeTooSmall, .moreThanOneRecord, .recordShort, .badSenderKey:
                throw .body
            case .tag, .delimiter, .noDelimiter, .library: return .unreadable
            }
        }
    }

    // MARK: The service

    private func decide(
        _ request: ProviderRequest, _ path: PushPath, _ push: PushRequest, _ read: Reading,
        at now: ContinuousClock.Instant, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        // Checked when the script was read.
        for change in state.script.due(at: now) { try? state.faults.change(change) }
        if let wait = state.faults.takeFromQuota(at: now) {
            let seconds = Int((wait / .seconds(1)).rounded(.up))
            return fail(.quota, Outcome(status: 0, reason: ""), path, push, seconds, 0, now, &state)
        }
        state.counts.notePayload(request.body.count)
        let device = Hash64.hash(path.token, seed: seed)
        let attempts = state.devices.attempt(device)
        let draw = Hash64.combine(device, UInt64(attempts) &+ seed)
        var outcome = Outcome(status: 201, reason: "ok", device: device)
        if case .message(let message) = read { outcome.id = message.id.map { message.scanner.content($0) } }
        if let asked = PushAnswer.asked(by: path.token) {
            (outcome.status, outcome.reason) = (asked.response.status, asked.reason)
            finish(outcome, at: now, &state)
            return delay(asked.response, draw: draw, state)
        }
        let fault =
            Fault.asked(by: path.token[...], attempts: attempts)
            ?? state.faults.drawWebPush(device: device, attempts: attempts)
        if fault?.isAccepted ?? true { accept(read, push, path, device, &state) }
        guard let fault else {
            finish(outcome, at: now, &state)
            return delay(created(push, path, &state).response, draw: draw, state)
        }
        outcome.fault = fault
        return fail(fault, outcome, path, push, state.faults.retryAfter, draw, now, &state)
    }

    private func accept(
        _ read: Reading, _ push: PushRequest, _ path: PushPath, _ device: UInt64, _ state: inout SimulatorState
    ) {
        switch read {
        case .nothing: state.devices.accept(device: device, id: nil, as: .hidden)
        case .unreadable:
            state.counts.unreadable += 1
            state.devices.accept(device: device, id: nil, as: .hidden)
        case .message(let message):
            let id = message.id.map { (hash: message.scanner.hash($0, seed: seed), text: message.scanner.content($0)) }
            let appearance: DeviceModel.Appearance
            if path.token.starts(with: Self.away) {
                appearance = .waiting(topic: push.topic.map { Hash64.hash($0, seed: seed) })
            } else if message.hasTitle {
                appearance = .browser(tag: message.tag.map { message.scanner.hash($0, seed: seed) })
            } else {
                appearance = .hidden
            }
            state.devices.accept(device: device, id: id, as: appearance)
        }
    }

    // MARK: Answers

    private func fail(
        _ fault: Fault, _ outcome: Outcome, _ path: PushPath, _ push: PushRequest, _ retryAfter: Int, _ draw: UInt64,
        _ now: ContinuousClock.Instant, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        var outcome = outcome
        if let answer = PushAnswer.fault(fault, retryAfter: retryAfter, path.manners) {
            (outcome.status, outcome.reason) = (answer.response.status, answer.reason)
            finish(outcome, at: now, &state)
            return delay(answer.response, draw: draw, state)
        }
        if fault == .slow || fault == .goaway {
            finish(outcome, at: now, &state)
            let response = created(push, path, &state).response
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

    private func created(_ push: PushRequest, _ path: PushPath, _ state: inout SimulatorState) -> PushAnswer {
        .created(state.nextMessageID(), ttl: min(push.ttl, 2_592_000), path.manners)
    }

    private func refuse(
        _ answer: PushAnswer, at now: ContinuousClock.Instant, _ state: Locked<SimulatorState>
    ) -> HTTP2ServerAction {
        state.withLock { state in
            finish(Outcome(status: answer.response.status, reason: answer.reason), at: now, &state)
            return delay(answer.response, draw: Hash64.combine(seed, UInt64(state.counts.requests)), state)
        }
    }

    private func delay(_ response: HTTP2ServerResponse, draw: UInt64, _ state: SimulatorState) -> HTTP2ServerAction {
        let latency = state.faults.latency.draw(draw)
        return latency == .zero ? .respond(response) : .respondAfter(latency, response)
    }

    private func finish(_ outcome: Outcome, at now: ContinuousClock.Instant, _ state: inout SimulatorState) {
        state.counts.count(status: outcome.status, reason: outcome.reason)
        state.journal?.append(
            at: now, device: outcome.device, id: outcome.id, status: outcome.status,
            fault: outcome.fault?.rawValue ?? (outcome.status == 201 ? nil : outcome.reason))
    }
}

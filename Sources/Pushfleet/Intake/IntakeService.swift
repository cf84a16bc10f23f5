import Domain
import Logging
import PlainHTTPServer
import Postgres
import Prometheus
import QueueStore

/// Answers the calls of apps' SDKs: who calls, how often, what for, and what came of it.
struct IntakeService: Sendable {
    let store: IntakeStore
    let keyring: IntakeKeyring
    let check: SubscriberCheck
    let registry: PrometheusCollectorRegistry
    let logger: Logger

    func answer(_ request: HTTPServerRequest) async -> HTTPServerResponse {
        let route = IntakeRoute(method: request.method, path: request.path)
        let begun = ContinuousClock.now
        let response: HTTPServerResponse
        do {
            response = try await answer(request, route).response
        } catch {
            if let passing = Self.passing(error) {
                logger.warning(passing, metadata: ["route": "\(route.name)", "error": "\(error)"])
                response = failure(503, "unavailable", "Try again later.")
            } else {
                logger.error("call failed", metadata: ["route": "\(route.name)", "error": "\(error)"])
                response = failure(500, "internal", "The call failed; it is safe to repeat it.")
            }
        }
        count(route, response.status, ContinuousClock.now - begun)
        return response
    }

    /// What is said of an error that passes by itself; nil if none is.
    static func passing(_ error: any Error) -> Logger.Message? {
        guard let error = error as? PostgresError else { return nil }
        // It is there, and another transaction holds what this one waits for.
        if error.code == .deadlineExceeded { return "database did not answer in time" }
        return error.isTransient ? "database is away" : nil
    }

    private func failure(_ status: UInt32, _ code: String, _ message: String) -> HTTPServerResponse {
        HTTPServerResponse(
            status: status, headers: [("content-type", "application/json"), ("retry-after", "5")],
            body: Array("{\"errors\":[{\"code\":\"\(code)\",\"message\":\"\(message)\",\"pointer\":\"\"}]}\n".utf8))
    }

    private func count(_ route: IntakeRoute, _ status: UInt32, _ took: Duration) {
        registry.makeCounter(
            name: "pushfleet_intake_requests_total", labels: [("route", route.name), ("status", "\(status)")],
            help: "Calls of apps' SDKs by what they asked for and how they were answered."
        ).increment()
        registry.makeDurationHistogram(
            name: "pushfleet_intake_duration_seconds", labels: [("route", route.name)],
            buckets: [1, 2, 5, 10, 20, 50, 100, 500, 1000, 5000].map { .milliseconds($0) },
            help: "How long calls of apps' SDKs take."
        ).record(took)
    }

    private func answer(_ request: HTTPServerRequest, _ route: IntakeRoute) async throws -> IntakeAnswer {
        switch route {
        case .unknown: return try .error(404, "not_found", "There is nothing here.")
        case .otherMethod(let allowed):
            return try .error(
                405, "method_not_allowed", "Use \(allowed).", headers: [("allow", allowed)])
        case .register, .unregister, .events: break
        }
        let key: IntakeKey
        switch try await caller(request) {
        case .success(let found): key = found
        case .failure(let refusal): return try refusal.answer
        }
        guard key.appName == route.app else {
            return try .error(403, "key_of_another_app", "The key is not this app's.")
        }
        switch route {
        case .register: return try await register(request, key)
        case .unregister(_, let externalID): return try await unregister(externalID, key)
        case .events: return try await record(request, key)
        case .otherMethod, .unknown: return try .error(404, "not_found", "There is nothing here.")
        }
    }

    // MARK: - Who calls

    private enum Refusal: Error {
        case unauthorized
        case tooOften(Duration)

        var answer: IntakeAnswer {
            get throws {
                switch self {
                case .unauthorized:
                    return try .error(
                        401, "unauthorized", "Send the app's key as Authorization: Bearer KEY.",
                        headers: [("www-authenticate", "Bearer")])
                case .tooOften(let wait):
                    return try .error(
                        429, "too_many_requests", "The key calls too often.",
                        headers: [("retry-after", "\(max(1, wait.components.seconds + 1))")])
                }
            }
        }
    }

    private func caller(_ request: HTTPServerRequest) async throws -> Result<IntakeKey, Refusal> {
        let words = (request.headers["authorization"] ?? "").split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer", 32...128 ~= words[1].utf8.count else {
            return .failure(.unauthorized)
        }
        switch try await keyring.verdict(on: String(words[1])) {
        case .welcome(let key): return .success(key)
        case .unknown: return .failure(.unauthorized)
        case .tooOften(let wait): return .failure(.tooOften(wait))
        }
    }

    // MARK: - What for

    private struct Registered: Encodable { let status: String }

    private func register(_ request: HTTPServerRequest, _ key: IntakeKey) async throws -> IntakeAnswer {
        guard isJSON(request) else { return try unsupported }
        let registered: IntakeStore.Registered
        switch check.object(request.body) {
        case .failure(let line): registered = .refused(line)
        case .success(let subscriber): registered = try await store.register(subscriber, app: key.app)
        }
        switch registered {
        case .added: return try .value(201, Registered(status: "registered"))
        case .refreshed: return try .value(200, Registered(status: "refreshed"))
        case .refused(let line):
            return try .errors(400, line.reasons.map { IntakeProblem($0) })
        }
    }

    private func unregister(_ externalID: String, _ key: IntakeKey) async throws -> IntakeAnswer {
        guard externalID.utf8.count <= 255 else {
            return try .error(400, "value_invalid", "The external id is longer than 255 bytes.")
        }
        // Erased before or now: it is gone, which is what was asked for.
        _ = try await store.unregister(externalID: externalID, app: key.app)
        return IntakeAnswer(status: 204)
    }

    private struct Recorded: Encodable {
        var counted = 0
        var repeated = 0
        /// Events that are of no use to send again.
        var errors: [IntakeProblem] = []
    }

    private func record(_ request: HTTPServerRequest, _ key: IntakeKey) async throws -> IntakeAnswer {
        guard isJSON(request) else { return try unsupported }
        let batch: EventBatch
        do {
            batch = try EventBatch(request.body)
        } catch let fault as ContentProblems {
            return try .errors(400, fault.problems.map { IntakeProblem($0) })
        }
        var events: [(index: Int, event: DeviceEvent)] = []
        var report = Recorded()
        for (index, item) in batch.items.enumerated() {
            switch item {
            case .event(let event): events.append((index, event))
            case .refused(let problems): report.errors += problems.map { IntakeProblem($0) }
            }
        }
        // Nothing of it is an event: the caller speaks another language.
        if events.isEmpty { return try .errors(400, report.errors) }
        let recorded = try await store.record(events.map(\.event), app: key.app)
        for ((index, _), outcome) in zip(events, recorded) {
            switch outcome {
            case .counted: report.counted += 1
            case .repeated: report.repeated += 1
            case .unknownRun:
                report.errors.append(
                    IntakeProblem(
                        pointer: "/events/\(index)/notification", code: "notification_unknown",
                        message: "The app has no such run."))
            }
        }
        for (result, n) in [("counted", report.counted), ("repeated", report.repeated)] {
            registry.makeCounter(
                name: "pushfleet_intake_events_total", labels: [("result", result)], help: "Events of devices."
            ).increment(by: Double(n))
        }
        return try .value(report.errors.isEmpty ? 200 : 207, report)
    }

    private func isJSON(_ request: HTTPServerRequest) -> Bool {
        let type = (request.headers["content-type"] ?? "").prefix { $0 != ";" && $0 != " " }
        return type.lowercased() == "application/json"
    }

    private var unsupported: IntakeAnswer {
        get throws {
            try .error(415, "unsupported_media_type", "Send the body as application/json.")
        }
    }
}

extension IntakeProblem {
    fileprivate init(_ reason: RefusedLine.Reason) {
        let code =
            reason.unknownMember != nil ? "unknown_field" : reason.column != nil ? "value_invalid" : "body_invalid"
        self.init(
            pointer: reason.pointer, code: code, message: reason.message.replacing("The line", with: "The body"))
    }

    fileprivate init(_ problem: Problem) {
        self.init(pointer: problem.pointer, code: problem.code, message: "\(problem.message) \(problem.remedy)")
    }
}

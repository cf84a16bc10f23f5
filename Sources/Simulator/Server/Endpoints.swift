import FoundationEssentials
import HTTP2
import Threading

/// Everything that one server answers: FCM, APNs, Web Push, the token endpoint and administration, told apart by path.
final class Endpoints: Sendable {
    let state: Locked<SimulatorState>
    private let fcm: FCMEndpoint
    private let apns: APNsEndpoint
    private let push: PushServiceEndpoint
    private let admin: AdminEndpoint
    /// By the path of a project's sends.
    private let projectsByPath: [String: String]
    private let token = Locked<TokenEndpoint?>(nil)
    private let server = Locked<HTTP2Server?>(nil)

    init(seed: UInt64, projects: [String], state: SimulatorState) {
        self.state = Locked(state)
        fcm = FCMEndpoint(seed: seed, projects: Set(projects))
        apns = APNsEndpoint(seed: seed)
        push = PushServiceEndpoint(seed: seed)
        admin = AdminEndpoint(seed: seed)
        var paths: [String: String] = [:]
        for project in projects {
            paths[Self.path(project)] = project
            paths[Self.path(Self.number(of: project))] = project
        }
        projectsByPath = paths
    }

    /// Opens the token endpoint. Until then, nothing answers there.
    func attach(_ server: HTTP2Server, tokenURI: String) {
        token.withLock { $0 = TokenEndpoint(audience: tokenURI) }
        self.server.withLock { $0 = server }
    }

    /// Lets go of the server, which holds the handler, which holds this.
    func detach() {
        server.withLock { $0 = nil }
    }

    func answer(_ request: ProviderRequest) -> HTTP2ServerAction {
        let now = ContinuousClock.now
        if let project = projectsByPath[request.path] ?? Self.project(in: request.path) {
            return state.withLock { fcm.answer(request, project: project, at: now, &$0) }
        }
        if request.path.hasPrefix(Self.apnsPrefix) {
            let wallClock = Date().timeIntervalSince1970
            return state.withLock { apns.answer(request, at: now, wallClock: wallClock, &$0) }
        }
        if let path = PushPath(request.path) { return push.answer(request, path, at: now, state) }
        if request.path.hasPrefix("/admin/") || request.path == "/healthz" {
            let statistics = { self.server.withLock { $0 }?.statistics }
            return .respond(state.withLock { admin.answer(request, server: statistics, &$0) })
        }
        if request.path == "/token", let token = token.withLock({ $0 }) {
            let wallClock = Date().timeIntervalSince1970
            return state.withLock { token.answer(request, at: now, wallClock: wallClock, &$0) }
        }
        return .respond(FCMAnswer.notFound.response)
    }

    /// What the path of a send to any project names as one; queries do not matter.
    private static func project(in path: String) -> String? {
        let path = path.prefix { $0 != "?" }
        guard path.hasPrefix(prefix), path.hasSuffix(suffix), path.utf8.count > prefix.utf8.count + suffix.utf8.count
        else { return nil }
        let project = path.dropFirst(prefix.count).dropLast(suffix.count)
        return project.contains("/") ? nil : String(project)
    }

    static let apnsPrefix = "/3/"
    private static let prefix = "/v1/projects/"
    private static let suffix = "/messages:send"

    private static func path(_ project: String) -> String { prefix + project + suffix }

    /// Stands in for the number that Google gives to each project, and takes in place of its id.
    static func number(of project: String) -> String {
        String(100_000_000_000 + Hash64.hash(Array(project.utf8), seed: 0) % 900_000_000_000)
    }
}

/// What a path and a method ask for.
enum IntakeRoute: Equatable {
    case register(app: String)
    case unregister(app: String, externalID: String)
    case events(app: String)
    /// The path takes another method.
    case otherMethod(allowed: String)
    case unknown

    /// - Parameter path: decoded, without the query.
    init(method: String, path: String) {
        let parts = path.split(separator: "/", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count >= 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "apps", !parts[3].isEmpty else {
            self = .unknown
            return
        }
        let app = String(parts[3])
        switch (parts[4], parts.count) {
        case ("installations", 5): self = method == "POST" ? .register(app: app) : .otherMethod(allowed: "POST")
        case ("installations", 6) where !parts[5].isEmpty:
            // An external id may hold slashes.
            self =
                method == "DELETE"
                ? .unregister(app: app, externalID: String(parts[5])) : .otherMethod(allowed: "DELETE")
        case ("events", 5): self = method == "POST" ? .events(app: app) : .otherMethod(allowed: "POST")
        default: self = .unknown
        }
    }

    /// For metrics.
    var name: String {
        switch self {
        case .register: "register"
        case .unregister: "unregister"
        case .events: "events"
        case .otherMethod, .unknown: "none"
        }
    }

    var app: String? {
        switch self {
        case .register(let app), .unregister(let app, _), .events(let app): app
        case .otherMethod, .unknown: nil
        }
    }
}

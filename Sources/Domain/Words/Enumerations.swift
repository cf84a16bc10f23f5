/// The provider protocol that reaches a subscriber. Raw values stand in the column `transport`.
package enum TransportKind: Int16, CaseIterable, Sendable {
    case apns = 1
    case fcm = 2
    case webpush = 3

    package var name: String {
        switch self {
        case .apns: "apns"
        case .fcm: "fcm"
        case .webpush: "webpush"
        }
    }

    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

/// Whose work goes first. Raw values stand in the column `lane`.
package enum Lane: Int16, CaseIterable, Sendable {
    case transactional = 0
    case campaign = 1
}

/// The final fate of a job. Raw values stand in `delivery.outcome`.
package enum Outcome: Int16, CaseIterable, Sendable {
    /// The provider accepted it; that says nothing about the device.
    case delivered = 1
    case failed = 2
    case unregistered = 3
    case expired = 4
    case cancelled = 5
    case skipped = 6
    /// It may have left and was not repeated.
    case inDoubt = 7

    package var name: String {
        switch self {
        case .delivered: "delivered"
        case .failed: "failed"
        case .unregistered: "unregistered"
        case .expired: "expired"
        case .cancelled: "cancelled"
        case .skipped: "skipped"
        case .inDoubt: "in_doubt"
        }
    }
}

/// What happens to a job that may have left. Raw values stand in `run.in_doubt`.
package enum InDoubtPolicy: Int16, Sendable {
    /// Repeat it, with the same identifiers.
    case retry = 0
    /// Never repeat it: it ends as `in_doubt`.
    case assumeSent = 1
}

/// Raw values stand in `run.status`.
package enum RunStatus: Int16, Sendable {
    case running = 1
    case paused = 2
    case cancelled = 3
    case done = 4
}

/// Raw values stand in `route.state`.
package enum RouteState: Int16, Sendable {
    case open = 0
    /// By a breaker or a credential's fault: nothing is claimed until it opens again.
    case paused = 1
    case closed = 2
}

/// Raw values stand in `batch.state`.
package enum BatchState: Int16, Sendable {
    case ready = 0
    case leased = 1
    case done = 2
    case scheduled = 5
}

/// Raw values stand in `subscriber.state`.
package enum SubscriberState: Int16, CaseIterable, Sendable {
    case active = 1
    case suspect = 2
    case unregistered = 3
    case wrongProject = 4
    case quarantined = 5

    package var name: String {
        switch self {
        case .active: "active"
        case .suspect: "suspect"
        case .unregistered: "unregistered"
        case .wrongProject: "wrong_project"
        case .quarantined: "quarantined"
        }
    }
}

/// Which of Apple's two environments a device token belongs to.
package enum PushEnvironment: Int16, CaseIterable, Sendable {
    case unknown = 0
    case production = 1
    case sandbox = 2
}

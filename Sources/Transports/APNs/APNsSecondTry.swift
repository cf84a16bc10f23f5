import Domain

/// Why a job goes a second time.
enum APNsSecondTry: Sendable, Hashable {
    /// The environment tried first does not know the token.
    case otherEnvironment
    /// The connection was at fault, as the answer's reason says.
    case otherConnection(Reason)

    /// What the answer to the first try said.
    var reason: Reason {
        switch self {
        case .otherEnvironment: .apnsBadDeviceToken
        case .otherConnection(let reason): reason
        }
    }
}

/// The jobs that were answered once and are to be begun again. A plain value: the transport guards it.
struct APNsSecondTries: Sendable {
    /// Those of batches that were lost meanwhile stay; forgotten, they only begin at the beginning.
    private static let most = 65_536

    private var tries: [Ticket: APNsSecondTry] = [:]

    mutating func note(_ ticket: Ticket, _ second: APNsSecondTry) {
        if tries.count >= Self.most { tries = [:] }
        tries[ticket] = second
    }

    /// - Returns: of these jobs, those that go a second time.
    mutating func take(_ jobs: [OutgoingJob]) -> [Ticket: APNsSecondTry] {
        guard !tries.isEmpty else { return [:] }
        var taken: [Ticket: APNsSecondTry] = [:]
        for job in jobs { if let second = tries.removeValue(forKey: job.ticket) { taken[job.ticket] = second } }
        return taken
    }
}

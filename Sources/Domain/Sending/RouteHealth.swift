/// What one worker saw of a route lately, and whether its breaker should open for the fleet.
///
/// A connection that breaks takes some hundred requests with it, so failures without an answer count only once nothing
/// else happened for a while; answers that are all faults count at once.
package struct RouteHealth: Sendable {
    package enum Sign: Equatable, Sendable {
        /// The provider took care of a request, whatever it thought of it.
        case works
        /// It answered that it cannot (5xx).
        case fails(Reason)
        /// It, or something between, answered what no job can have caused.
        case isMisled(Reason)
        /// No answer: connecting, time or the connection itself failed.
        case isSilent(Reason)
    }

    /// Faults answered in a row that open the breaker.
    package static let faultsInRow = 50
    /// Answers of `isMisled` in a row.
    package static let misledInRow = 5
    /// Failures of any kind in a row that open it when they last for `silence`.
    package static let failuresInRow = 20
    package static let silence = Duration.seconds(2)
    /// Answers within `window` of which half are faults.
    package static let answersInWindow = 100
    package static let window = Duration.seconds(10)
    /// Failures in a row of a route on trial.
    package static let failuresOnTrial = 5

    /// It was opened before and is being tried.
    package let isOnTrial: Bool
    package private(set) var hasWorked = false
    private var inRow = 0
    private var faults = 0
    private var misled = 0
    private var failingSince: Instant?
    private var windowSince: Instant?
    private var answers = 0
    private var faultsInWindow = 0

    package init(isOnTrial: Bool = false) { self.isOnTrial = isOnTrial }

    /// - Returns: why the breaker should open; nil = it should not.
    package mutating func note(_ sign: Sign, at now: Instant) -> Reason? {
        if let since = windowSince, now - since < Self.window {
        } else {
            (windowSince, answers, faultsInWindow) = (now, 0, 0)
        }
        switch sign {
        case .works:
            answers += 1
            hasWorked = true
            (inRow, faults, misled, failingSince) = (0, 0, 0, nil)
            return nil
        case .fails(let reason):
            answers += 1
            faultsInWindow += 1
            faults += 1
            return verdict(reason, at: now)
        case .isMisled(let reason):
            misled += 1
            return verdict(reason, at: now)
        case .isSilent(let reason):
            return verdict(reason, at: now)
        }
    }

    private mutating func verdict(_ reason: Reason, at now: Instant) -> Reason? {
        inRow += 1
        let since = failingSince ?? now
        failingSince = since
        let opens =
            faults >= Self.faultsInRow || misled >= Self.misledInRow
            || (inRow >= Self.failuresInRow && now - since >= Self.silence)
            || (answers >= Self.answersInWindow && faultsInWindow * 2 >= answers)
            || (isOnTrial && !hasWorked && inRow >= Self.failuresOnTrial)
        return opens ? reason : nil
    }
}

extension RouteHealth.Sign {
    /// What a result says of its route; nil = nothing.
    package init?(_ result: SendResult) {
        switch result.fate {
        case .notSent(let reason): self = .isSilent(reason)
        case .mayHaveLeft(let reason): self = .isSilent(reason)
        // The second try will say.
        case .tryAgain: return nil
        case .answered(let answer):
            // Refused by our own renderer, or by a credential that never left.
            guard result.status != nil else { return nil }
            switch answer {
            case .retry(let reason, _): self = .fails(reason)
            case .config(let reason): self = .isMisled(reason)
            case .credential: return nil
            case .delivered, .unregistered, .refused, .slowDown, .wrongProject: self = .works
            }
        }
    }
}

/// When nobody is disturbed: from one wall time until another in each subscriber's zone, over midnight if the second is
/// the earlier one.
package struct QuietHours: Equatable, Sendable {
    /// What becomes of a message that would come in quiet hours.
    package enum Policy: String, Sendable, CaseIterable {
        /// It waits until they end.
        case deferred = "defer"
        case skip
    }

    /// `HH:MM`.
    package let from: String
    package let until: String

    /// As it is written: `22:00-08:00`.
    /// - Returns: nil for anything else, or two times that are the same.
    package init?(_ text: String) {
        let time = /([01][0-9]|2[0-3]):[0-5][0-9]/
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] != parts[1], parts.allSatisfy({ $0.wholeMatch(of: time) != nil }) else {
            return nil
        }
        from = String(parts[0])
        until = String(parts[1])
    }
}

extension QuietHours.Policy {
    /// As `app.quiet_policy` and `run.quiet_policy` say it.
    package var code: Int16 {
        switch self {
        case .deferred: 0
        case .skip: 1
        }
    }
}

/// A message's explicit word that a cap or quiet hours shall not hold for it, kept for whoever asks later.
package struct Bypass: Equatable, Sendable {
    package enum Rule: String, Sendable, CaseIterable {
        case frequencyCap = "frequency_cap"
        case quietHours = "quiet_hours"
    }

    package static let maximumReasonBytes = 200

    package var rules: Set<Rule>
    package var reason: String

    package init(rules: Set<Rule>, reason: String) {
        self.rules = rules
        self.reason = reason
    }
}

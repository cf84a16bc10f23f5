/// Which of a recurring campaign's due occurrences become runs.
package enum DueOccurrences {
    /// Older ones were missed: nothing ran when they were due.
    package static let missedAfter = Duration.seconds(300)

    /// - Parameter due: those without a run, oldest first, all at or before `now`.
    package static func chosen(
        from due: [Instant], now: Instant, missed: Schedule.Policies.Missed
    ) -> [Instant] {
        switch missed {
        case .all: due
        case .latest: Array(due.suffix(1))
        case .skip: Array(due.suffix(1).filter { now - $0 <= missedAfter })
        }
    }
}

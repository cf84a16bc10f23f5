/// When a campaign goes out (design §7, §10; decisions.md "Faces").
package enum Schedule: Sendable, Equatable {
    /// As soon as the campaign is accepted.
    case now
    case at(Instant)
    /// At each subscriber's own wall clock.
    case local(LocalDateTime, Policies)
    /// At every occurrence of a cron expression in an IANA zone.
    case cron(expression: String, zone: String, Policies)

    package struct Policies: Sendable, Equatable {
        package enum MissingZone: String, Sendable, CaseIterable {
            case appZone = "app_zone"
            case skip
        }
        package enum PastLocal: String, Sendable, CaseIterable {
            case sendNow = "send_now"
            case skip
            case nextDay = "next_day"
        }
        package enum Missed: String, Sendable, CaseIterable {
            case skip
            case latest
            case all
        }

        /// A subscriber without a zone.
        package var missingZone = MissingZone.appZone
        /// A zone whose hour has passed already.
        package var pastLocal = PastLocal.sendNow
        /// Occurrences while nothing ran.
        package var missed = Missed.skip
        package var start: Instant?
        package var end: Instant?
    }
}

/// When a campaign goes out.
package enum Schedule: Sendable, Equatable {
    /// As soon as the campaign is accepted.
    case now
    case at(Instant, Policies)
    /// At each subscriber's own wall clock.
    case local(LocalDateTime, Policies)
    /// At every occurrence of a cron expression in an IANA zone.
    case cron(CronExpression, zone: String, Policies)

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
        /// When who belongs to the audience is decided, and up to when registrations count.
        package enum AudienceAt: String, Sendable, CaseIterable {
            /// As soon as the campaign is accepted; its batches wait until they are due.
            case schedule
            /// When it is due; before the first zone's hour for local time.
            case expand
        }
        package enum Overlap: String, Sendable, CaseIterable {
            case skip
            /// It begins once the run before it is over.
            case queue
            case allow
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
        /// An occurrence that is due while the last one still sends.
        package var overlap = Overlap.skip
        package var audienceAt = AudienceAt.expand
        package var start: Instant?
        package var end: Instant?
    }

    /// false: it recurs.
    package var isOnce: Bool { if case .cron = self { false } else { true } }

    package var policies: Policies {
        switch self {
        case .now: Policies()
        case .at(_, let policies), .local(_, let policies), .cron(_, _, let policies): policies
        }
    }
}

import Domain
import Postgres

extension PostgresConnection {
    /// Candidates that are looked at together: an hour that clocks show twice has sixty that are over already.
    private static let chunk = 200

    /// The instants at which an expression is due in a zone, later than `after`, oldest first: which wall times fit is
    /// the expression's, which instants they are PostgreSQL's. Two wall times that a jump of the clocks moves to one
    /// instant are one occurrence.
    /// - Parameters:
    ///   - upTo: none later; nil = no end.
    ///   - limit: at most so many.
    func occurrences(
        of cron: CronExpression, zone: String, after: Instant, upTo: Instant?, limit: Int
    ) async throws -> [Instant] {
        var found: [Instant] = []
        // The wall time that the zone's clock shows at `after`: what fits at or before it is over, since instants never
        // go back as wall times go on.
        var wall = WallMinute(
            try await query(
                """
                SELECT floor(extract(
                    epoch FROM pushfleet.local_time(\(after.timestamp), \(zone)) - timestamp '1970-01-01'
                ) / 60)::bigint
                """)[0].int64(0))
        while found.count < limit {
            var minutes: [Int64] = []
            while minutes.count < Self.chunk, let next = cron.next(after: wall) {
                minutes.append(next.rawValue)
                wall = next
            }
            guard !minutes.isEmpty else { return found }
            for row in try await query(.instants(of: minutes, zone: zone), deadline: .seconds(30)) {
                let instant = Instant(microseconds: row.timestampMicroseconds(0))
                if let upTo, instant > upTo { return found }
                guard instant > after, found.last != instant, found.count < limit else { continue }
                found.append(instant)
            }
        }
        return found
    }

    /// The first occurrence from now, or from its start, on.
    func firstOccurrence(
        of cron: CronExpression, zone: String, _ policies: Schedule.Policies
    ) async throws -> Instant? {
        var after = Instant(microseconds: try await query("SELECT now()")[0].timestampMicroseconds(0))
        // An occurrence at the start itself counts.
        if let start = policies.start { after = max(after, Instant(microseconds: start.microseconds - 1)) }
        return try await occurrences(of: cron, zone: zone, after: after, upTo: policies.end, limit: 1).first
    }
}

extension PostgresQuery {
    fileprivate static func instants(of minutes: [Int64], zone: String) -> PostgresQuery {
        """
        SELECT pushfleet.local_instant(timestamp '1970-01-01' + wall.minute * interval '1 min', \(zone))
        FROM unnest(\(minutes)) WITH ORDINALITY AS wall (minute, place)
        ORDER BY wall.place
        """
    }
}

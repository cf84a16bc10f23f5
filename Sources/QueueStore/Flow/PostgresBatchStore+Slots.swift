import Domain
import Postgres

extension PostgresBatchStore {
    package func takeSlots(for pair: Pair, wanted: Int, ahead: Duration) async throws -> SlotGrant {
        let rows = try await claims.query(
            .takeSlots(for: pair, wanted: Int32(clamping: wanted), ahead: ahead, at: nil), deadline: .seconds(2))
        return SlotGrant(rows)
    }

    package func slow(_ route: Route.ID, begun: Int, for span: Duration) async throws {
        _ = try await claims.query(
            .slow(route, begun: Int32(clamping: begun), for: span), deadline: .seconds(5))
    }
}

extension SlotGrant {
    init(_ rows: PostgresRows) {
        if rows.count == 1, rows[0].isNull(0) {
            self = .unlimited
        } else {
            self = .slots(
                rows.map {
                    RateSlots(
                        beginsAt: Instant(microseconds: $0.timestampMicroseconds(0)), count: Int($0.int32(1)))
                })
        }
    }
}

extension PostgresQuery {
    /// - Parameter at: nil = now.
    static func takeSlots(for pair: Pair, wanted: Int32, ahead: Duration, at: Instant?) -> PostgresQuery {
        """
        SELECT begins_at, slots
        FROM pushfleet.take_slots(
            \(pair.run.rawValue), \(pair.route.rawValue), \(wanted), \(PostgresInterval(ahead)),
            coalesce(\(at?.timestamp)::timestamptz, clock_timestamp())
        )
        """
    }

    /// Half of what the fleet began in the last second: as its timetable says, else as the asking worker guesses from
    /// its own share.
    static func slow(_ route: Route.ID, begun: Int32, for span: Duration) -> PostgresQuery {
        """
        UPDATE pushfleet.route
        SET slow_rate = CASE
                WHEN route.slowed_at > now() - interval '2 s' THEN route.slow_rate
                ELSE greatest(1, least(
                    coalesce(
                        (
                            SELECT nullif(r.taken, 0)
                            FROM pushfleet.rate_second r
                            WHERE r.key = 'route:' || route.id
                                AND r.at_second = date_trunc('second', now()) - interval '1 s'
                        ),
                        \(begun) * (SELECT count(*) FROM pushfleet.worker w WHERE w.lease_until > now())
                    ),
                    pushfleet.route_rate(
                        route.rate, route.ramp, route.ramp_since, route.slow_rate, route.slow_until, now())
                ) / 2)
            END,
            slow_until = greatest(
                CASE WHEN route.slowed_at > now() - interval '2 s' THEN route.slow_until END,
                now() + \(PostgresInterval(span))),
            slowed_at = CASE WHEN route.slowed_at > now() - interval '2 s' THEN route.slowed_at ELSE now() END
        WHERE route.id = \(route.rawValue) AND route.state = 0
        """
    }
}

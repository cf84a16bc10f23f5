import Domain
import Postgres

extension PostgresBatchStore {
    package func trip(_ route: Route.ID, reason: Reason) async throws -> Duration? {
        try await claims.query(.trip(route, reason: reason), deadline: .seconds(5)).first.map {
            .milliseconds($0.int64(0))
        }
    }

    package func endTrial(of route: Route.ID) async throws {
        _ = try await claims.query(.endTrial(of: route), deadline: .seconds(5))
    }
}

extension PostgresScheduleStore {
    package func reopenRoutes() async throws -> Int {
        try await client.query(.reopenRoutes, deadline: .seconds(5)).affected
    }
}

extension PostgresQuery {
    /// From 5 s on, doubled for each trip in a row up to 5 minutes, jittered.
    static func trip(_ route: Route.ID, reason: Reason) -> PostgresQuery {
        """
        UPDATE pushfleet.route
        SET state = 1,
            paused_reason = \(reason.rawValue),
            paused_at = now(),
            trips = least(route.trips + 1, 100),
            reopen_at = now()
                + least(interval '5 min', interval '5 s' * 2 ^ least(route.trips, 6)) * (0.75 + random() / 4),
            slow_rate = NULL,
            slow_until = NULL
        WHERE route.id = \(route.rawValue) AND route.state = 0
        RETURNING (extract(epoch FROM route.reopen_at - now()) * 1000)::bigint
        """
    }

    /// A trial is a trickle for the whole fleet: ten requests a second. The first answer that is no failure ends it; new
    /// failures open the breaker again.
    static let reopenRoutes: PostgresQuery = """
        UPDATE pushfleet.route
        SET state = 0,
            paused_reason = NULL,
            paused_at = NULL,
            reopen_at = NULL,
            slow_rate = 10,
            slow_until = now() + interval '30 s',
            slowed_at = now()
        FROM pushfleet.credential
        WHERE credential.id = route.credential_id
            AND credential.state = 0
            AND route.state = 1
            AND route.reopen_at <= now()
        """

    /// From 100 a second on the rate doubles every 5 s (`route_rate`).
    static func endTrial(of route: Route.ID) -> PostgresQuery {
        """
        UPDATE pushfleet.route
        SET trips = 0, slow_rate = 100, slow_until = now(), slowed_at = now()
        WHERE route.id = \(route.rawValue) AND route.state = 0 AND route.trips > 0
        """
    }
}

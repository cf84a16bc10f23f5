import Domain
import Postgres

/// Pause, resume and cancel: a row of a small table each, whatever the run's size.
package struct ControlStore: Sendable {
    let client: PostgresClient

    package init(_ client: PostgresClient) { self.client = client }

    /// No request of the run begins later than a second from now.
    /// - Returns: false if the run is not running.
    package func pause(_ run: Run.ID) async throws -> Bool {
        try await client.query(.setStatus(of: run, to: .paused, from: [.running]), deadline: .seconds(5)).count == 1
    }

    /// - Returns: false if the run is not paused.
    package func resume(_ run: Run.ID) async throws -> Bool {
        try await client.query(.setStatus(of: run, to: .running, from: [.paused]), deadline: .seconds(5)).count == 1
    }

    /// - Returns: nil if the run is over, or unknown.
    package func cancel(_ run: Run.ID) async throws -> CancelAnswer? {
        let query = PostgresQuery.setStatus(of: run, to: .cancelled, from: [.running, .paused])
        guard try await client.query(query, deadline: .seconds(5)).count == 1 else { return nil }
        let row = try await client.query(.cancelAnswer(run), deadline: .seconds(10))[0]
        return CancelAnswer(
            run: run.rawValue, delivered: row.int64(0), inFlightAtMost: row.int64(1), stoppedAtLeast: row.int64(2))
    }
}

/// What is known at the moment of a cancel; exact figures stand once the run is settled.
package struct CancelAnswer: Codable, Sendable, Equatable {
    package let run: Int64
    package let delivered: Int64
    /// Announced and without an outcome.
    package let inFlightAtMost: Int64
    package let stoppedAtLeast: Int64
}

extension PostgresQuery {
    static func setStatus(of run: Run.ID, to status: RunStatus, from: [RunStatus]) -> PostgresQuery {
        """
        UPDATE pushfleet.run
        SET status = \(status.rawValue)
        WHERE id = \(run.rawValue) AND status = ANY (\(from.map(\.rawValue)))
        RETURNING id
        """
    }

    /// A mask of the announced ordinals says which of them have no mark.
    static func cancelAnswer(_ run: Run.ID) -> PostgresQuery {
        """
        SELECT coalesce(sum(b.delivered), 0)::bigint,
            coalesce(sum(flight.jobs), 0)::bigint,
            coalesce(sum(b.size - b.settled - flight.jobs), 0)::bigint + (
                SELECT count(*)
                FROM pushfleet.run_progress p
                JOIN pushfleet.retry ON retry.shard = p.shard AND retry.run_id = p.run_id
                WHERE p.run_id = \(run.rawValue)
            )
        FROM pushfleet.run_progress p
        JOIN pushfleet.batch b ON b.shard = p.shard AND b.run_id = p.run_id
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN b.state = 1
                THEN bit_count(~b.marked & rpad(repeat('1', b.announced), b.size, '0')::varbit)
                ELSE 0
            END AS jobs
        ) flight
        WHERE p.run_id = \(run.rawValue)
        """
    }
}

import Domain
import Postgres

/// Pause, resume and cancel: one row of a small table each, whatever the run's size.
package struct ControlStore: Sendable {
    private let client: PostgresClient
    package init(_ client: PostgresClient) { self.client = client }

    package struct CancelAnswer: Sendable, Encodable {
        package let delivered: Int64
        /// Announced and not recorded: at most so many may still be delivered.
        package let inFlightAtMost: Int64
        package let stoppedAtLeast: Int64
    }

    /// - Returns: false when the run is not running.
    package func pause(_ run: Run.ID) async throws -> Bool {
        let rows = try await client.query(
            "UPDATE pushfleet.run SET status = 2 WHERE id = \(run.rawValue) AND status = 1 RETURNING id")
        return !rows.isEmpty
    }

    /// - Returns: false when the run is not paused.
    package func resume(_ run: Run.ID) async throws -> Bool {
        let rows = try await client.query(
            "UPDATE pushfleet.run SET status = 1 WHERE id = \(run.rawValue) AND status = 2 RETURNING id")
        return !rows.isEmpty
    }

    /// Ends a run; settlement follows until nothing is left.
    /// - Returns: nil when the run is over or unknown.
    package func cancel(_ run: Run.ID) async throws -> CancelAnswer? {
        let cancelled = try await client.query(
            "UPDATE pushfleet.run SET status = 3 WHERE id = \(run.rawValue) AND status IN (1, 2) RETURNING id")
        guard !cancelled.isEmpty else { return nil }
        let row = try await client.query(
            """
            SELECT coalesce(sum(b.delivered), 0)::bigint,
                coalesce(sum(flight.jobs), 0)::bigint,
                (coalesce(sum(b.size - b.settled - flight.jobs), 0) + (
                    SELECT count(*)
                    FROM pushfleet.run_progress own
                    JOIN pushfleet.retry ON retry.shard = own.shard AND retry.run_id = own.run_id
                    WHERE own.run_id = \(run.rawValue)
                ))::bigint
            FROM pushfleet.run_progress p
            JOIN pushfleet.batch b ON b.shard = p.shard AND b.run_id = p.run_id
            CROSS JOIN LATERAL (
                -- A prefix of ones says what was announced; what of it is not marked may be on its way.
                SELECT CASE WHEN b.state = 1
                    THEN bit_count(~b.marked & rpad(repeat('1', b.announced), b.size, '0')::varbit)
                    ELSE 0 END AS jobs
            ) flight
            WHERE p.run_id = \(run.rawValue)
            """)[0]
        return CancelAnswer(delivered: row.int64(0), inFlightAtMost: row.int64(1), stoppedAtLeast: row.int64(2))
    }
}

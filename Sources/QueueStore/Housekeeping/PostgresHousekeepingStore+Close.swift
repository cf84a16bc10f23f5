import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func closeRuns() async throws -> Int {
        var closed = 0
        for row in try await client.query(.idleRuns, deadline: .seconds(10)) {
            closed += try await client.query(.close(Run.ID(row.int64(0))), deadline: .seconds(30)).count
        }
        _ = try await client.query(.forgetNotifications, deadline: .seconds(30))
        return closed
    }
}

extension PostgresQuery {
    /// Runs that may be over: expanded or cancelled, with nothing to claim. Standing runs only after their day.
    static let idleRuns: PostgresQuery = """
        SELECT run.id
        FROM pushfleet.run
        WHERE run.closed_at IS NULL
            AND (NOT run.standing OR run.due_at < now() - interval '2 days')
            AND (
                run.status = 3
                OR NOT EXISTS (
                    SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id AND NOT p.expanded
                )
            )
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.run_progress p
                JOIN pushfleet.run_route pair ON pair.shard = p.shard AND pair.run_id = p.run_id
                WHERE p.run_id = run.id AND pair.head IS NOT NULL AND run.status <> 3
            )
        ORDER BY run.id
        LIMIT 100
        """

    static let forgetNotifications: PostgresQuery = "SELECT pushfleet.forget_notifications(5000)"

    /// Writes the totals of a run whose work is all done, in a row that cannot be wrong. One snapshot sees every job in
    /// exactly one place, so nothing open in it means nothing open.
    static func close(_ run: Run.ID) -> PostgresQuery {
        """
        WITH idle AS MATERIALIZED (
            SELECT run.id
            FROM pushfleet.run
            WHERE run.id = \(run.rawValue)
                AND run.closed_at IS NULL
                AND (
                    run.status = 3
                    OR NOT EXISTS (
                        SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id AND NOT p.expanded
                    )
                )
                AND NOT EXISTS (
                    SELECT
                    FROM pushfleet.accounting a
                    WHERE a.run_id = run.id AND a.pending + a.leased + a.retrying > 0
                )
            FOR UPDATE
        ),
        total AS (
            INSERT INTO pushfleet.run_total (
                run_id, targeted, delivered, failed, unregistered, expired, cancelled, skipped, in_doubt, repeat_bound
            )
            SELECT a.run_id, a.targeted, a.delivered, a.failed, a.unregistered, a.expired, a.cancelled, a.skipped,
                a.in_doubt, a.repeat_bound
            FROM pushfleet.accounting a
            JOIN idle ON idle.id = a.run_id
            RETURNING run_id
        )
        UPDATE pushfleet.run
        SET status = CASE run.status WHEN 3 THEN 3 ELSE 4 END, closed_at = now()
        FROM total
        WHERE run.id = total.run_id
        RETURNING run.id
        """
    }
}

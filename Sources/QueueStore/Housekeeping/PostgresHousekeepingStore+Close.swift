import Domain
import Postgres

extension PostgresHousekeepingStore {
    package func closeRuns() async throws -> Int {
        var closed = 0
        var failure: (any Error)?
        _ = try await client.query(.endExpansions, deadline: .seconds(10))
        for row in try await client.query(.idleRuns, deadline: .seconds(10)) {
            do {
                closed += try await client.query(.close(Run.ID(row.int64(0))), deadline: .seconds(30)).count
            } catch {
                // One whose totals cannot be written holds up no other.
                failure = failure ?? error
            }
        }
        _ = try await client.query(.forgetNotifications, deadline: .seconds(30))
        if let failure { throw failure }
        return closed
    }
}

extension PostgresQuery {
    /// Cancelled runs are expanded no further. A page that saw the run before it was cancelled holds its progress row until
    /// it commits, and is waited for: until then the run stays unexpanded, and so open.
    static let endExpansions: PostgresQuery = """
        WITH ended AS MATERIALIZED (
            SELECT p.shard, p.run_id
            FROM pushfleet.run
            JOIN pushfleet.run_progress p ON p.run_id = run.id AND NOT p.expanded
            WHERE run.status = 3 AND run.closed_at IS NULL
            FOR UPDATE OF p SKIP LOCKED
        )
        UPDATE pushfleet.run_progress p
        SET expanded = true
        FROM ended
        WHERE p.shard = ended.shard AND p.run_id = ended.run_id AND NOT p.expanded
        """

    /// Runs that are expanded and have nothing open. Standing runs only after their day.
    ///
    /// Each has its turn at the indexes, the likeliest first, and stops at what is open: those that wait, of which there may
    /// be thousands, neither take the places of those that are over nor have their batches read.
    static let idleRuns: PostgresQuery = """
        SELECT run.id
        FROM pushfleet.run
        WHERE run.closed_at IS NULL
            AND (NOT run.standing OR run.due_at < now() - interval '2 days')
            AND NOT EXISTS (
                SELECT
                FROM pushfleet.run_progress p
                WHERE p.run_id = run.id
                    AND CASE
                        WHEN NOT p.expanded THEN true
                        WHEN run.status <> 3 AND EXISTS (
                            SELECT
                            FROM pushfleet.run_route pair
                            -- Not by the index of heads, which has those of all runs: the planner may take it for empty.
                            WHERE pair.shard = p.shard AND pair.run_id = p.run_id AND coalesce(pair.head, -1) <> -1
                            OFFSET 0
                        ) THEN true
                        WHEN EXISTS (
                            SELECT
                            FROM pushfleet.batch b
                            -- By the one index that has these expressions: see migration 0102.
                            WHERE b.run_id + 0 = p.run_id AND b.shard + 0 = p.shard AND b.state * 1 <> 2
                            OFFSET 0
                        ) THEN true
                        WHEN EXISTS (
                            SELECT FROM pushfleet.retry WHERE retry.shard = p.shard AND retry.run_id = p.run_id OFFSET 0
                        ) THEN true
                        ELSE EXISTS (
                            SELECT FROM pushfleet.notification n WHERE n.shard = p.shard AND n.run_id = p.run_id OFFSET 0
                        )
                    END
                OFFSET 0
            )
        ORDER BY run.id
        LIMIT 100
        """

    static let forgetNotifications: PostgresQuery = "SELECT pushfleet.forget_notifications(5000)"

    /// Writes the totals of a run whose work is all done, in a row that cannot be wrong. One snapshot sees every job in
    /// exactly one place, so nothing open in it means nothing open; and once a run is expanded, no page of it commits.
    static func close(_ run: Run.ID) -> PostgresQuery {
        """
        WITH idle AS MATERIALIZED (
            SELECT run.id
            FROM pushfleet.run
            WHERE run.id = \(run.rawValue)
                AND run.closed_at IS NULL
                AND NOT EXISTS (
                    SELECT FROM pushfleet.run_progress p WHERE p.run_id = run.id AND NOT p.expanded
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

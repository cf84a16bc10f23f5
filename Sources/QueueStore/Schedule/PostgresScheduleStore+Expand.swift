import Domain
import Postgres

extension PostgresScheduleStore {
    package func unexpandedRuns(of shard: Shard) async throws -> [Run.ID] {
        try await client.query(.unexpandedRuns(of: shard), deadline: .seconds(5)).map { Run.ID($0.int64(0)) }
    }

    package func expand(run: Run.ID, shard: Shard, pageSize: Int32) async throws -> ExpandedPage? {
        checkpoints.reach(.beforePage)
        guard let row = try await client.query(.audience(of: run), deadline: .seconds(5)).first else { return nil }
        let stored = row.json(0)
        let statement = ExpandStatement(
            shard: shard, run: run, pageSize: pageSize, audience: PostgresJSON(stored),
            predicate: try Audience(storedJSON: stored).predicate(), onePerUser: row.bool(1))
        let rows = try await client.withTransaction(deadline: .seconds(60)) { connection in
            // Compiling so long a statement costs as much as the page that it expands.
            _ = try await connection.query("SELECT set_config('jit', 'off', true)")
            return try await connection.query(statement.query, deadline: .seconds(60))
        }
        checkpoints.reach(.afterPage)
        return rows.first.map { ExpandedPage(targeted: Int($0.int32(0)), complete: $0.bool(1)) }
    }
}

extension PostgresQuery {
    static func audience(of run: Run.ID) -> PostgresQuery {
        """
        SELECT audience, one_per_user
        FROM pushfleet.run
        WHERE id = \(run.rawValue)
        """
    }

    static func unexpandedRuns(of shard: Shard) -> PostgresQuery {
        """
        SELECT run.id
        FROM pushfleet.run_progress progress
        JOIN pushfleet.run ON run.id = progress.run_id
        WHERE progress.shard = \(shard.rawValue)
            AND NOT progress.expanded
            AND run.status = 1
            AND run.expand_at <= now()
        ORDER BY run.expand_at, run.id
        LIMIT 100
        """
    }
}

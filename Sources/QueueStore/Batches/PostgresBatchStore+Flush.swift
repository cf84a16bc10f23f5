import Domain
import Postgres

extension PostgresBatchStore {
    package func flush(_ flush: Flush, worker: WorkerID, lease: Duration) async throws -> [Flush.State] {
        checkpoints.reach(.beforeFlush)
        let query = FlushStatement(flush: flush, worker: worker, lease: lease).query
        let rows = try await record(query)
        checkpoints.reach(.afterFlush)
        return try rows.map { row in
            var state = Flush.State(
                batch: Batch.ID(row.int64(0)), state: try stored(row.int16(1), "batch.state"),
                announced: Int32(row.int16(2)), run: try stored(row.int16(3), "run.status"),
                route: try stored(row.int16(4), "route.state"))
            state.isPaced = row.bool(5)
            return state
        }
    }

    private func record(_ query: PostgresQuery) async throws(PostgresError) -> PostgresRows {
        do {
            return try await flushes.query(query, deadline: .seconds(5))
        } catch {
            // No partition for today: the roles that make them did not run for a week.
            guard error.code == .checkViolation, error.constraint == nil else { throw error }
            _ = try await flushes.query(.ensureDays, deadline: .seconds(5))
            return try await flushes.query(query, deadline: .seconds(5))
        }
    }
}

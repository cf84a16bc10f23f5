import Domain
import Postgres

extension PostgresBatchStore {
    package func enlist(_ worker: WorkerID, lease: Duration) async throws {
        _ = try await claims.query(.enlist(worker, lease: lease), deadline: .seconds(5))
    }
}

extension PostgresQuery {
    /// Names are random, so a row of that name is of this very process: an enlisting whose reply was lost.
    static func enlist(_ worker: WorkerID, lease: Duration) -> PostgresQuery {
        """
        INSERT INTO pushfleet.worker (id, lease_until)
        VALUES (\(worker.uuid), now() + \(PostgresInterval(lease)))
        ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until
        """
    }
}

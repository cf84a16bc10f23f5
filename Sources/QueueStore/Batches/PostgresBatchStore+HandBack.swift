import Domain
import Postgres

extension PostgresBatchStore {
    package func handBack(
        _ batch: ClaimedBatch, begun: Int, notBefore: Duration?, worker: WorkerID
    ) async throws {
        checkpoints.reach(.beforeHandBack)
        let statement = FreeStatement(
            shard: batch.shard, bucket: batch.bucket, holder: worker, ids: [batch.id.rawValue],
            epochs: [batch.epoch], begun: [Int32(begun)], lapsedFor: nil, notBefore: notBefore)
        _ = try await claims.query(statement.query, deadline: .seconds(5))
        checkpoints.reach(.afterHandBack)
    }
}

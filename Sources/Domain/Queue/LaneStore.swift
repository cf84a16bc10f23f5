/// What a worker asks of the transactional lane: notifications that callers queued one by one.
package protocol LaneStore: Sendable {
    /// Asks for the duty of polling the lane every few milliseconds, or renews it; few workers have it at a time.
    /// - Returns: Its slot, from 1 on; nil = others have all of them.
    func takeDuty(_ worker: WorkerID, for span: Duration) async throws -> Int16?
    /// A cheap look: whether the shard has a due notification to collect, without those of `sated` runs, of which the
    /// caller has enough.
    func hasDue(in shard: Shard, without sated: Set<Run.ID>) async throws -> Bool
    /// Turns up to `limit` due notifications into batches, one for each run and route, leased to the worker, without those
    /// of `sated` runs. A call that threw may have taken some: a pulse gives them back, as with a claim.
    func collect(
        shard: Shard, worker: WorkerID, claimNumber: Int32, limit: Int32, without sated: Set<Run.ID>
    ) async throws -> [CollectedBatch]
    /// The content versions of a collected batch that came back to the ordinary claim.
    func contentVersions(of batch: ClaimedBatch) async throws -> [ContentVersion.ID]
}

extension LaneStore {
    package func hasDue(in shard: Shard) async throws -> Bool { try await hasDue(in: shard, without: []) }

    package func collect(
        shard: Shard, worker: WorkerID, claimNumber: Int32, limit: Int32
    ) async throws -> [CollectedBatch] {
        try await collect(shard: shard, worker: worker, claimNumber: claimNumber, limit: limit, without: [])
    }
}

/// A batch made of notifications, which may say different things.
package struct CollectedBatch: Sendable {
    package let batch: ClaimedBatch
    package let contentVersions: [ContentVersion.ID]
    package init(batch: ClaimedBatch, contentVersions: [ContentVersion.ID]) {
        self.batch = batch
        self.contentVersions = contentVersions
    }
}

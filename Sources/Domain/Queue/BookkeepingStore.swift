/// What keeping the books asks of the queue: tallies for reports, audits of closed runs, and clearing away what is old.
package protocol BookkeepingStore: Sendable {
    func shards() async throws -> [Shard]
    /// Counts deliveries that no tally holds yet; how many. 0 = all that can be counted now is.
    func fold(shard: Shard) async throws -> Int64
    /// Counts subscribers by state and age. Reads them all.
    func countTokens() async throws
    /// Audits one closed run that was not audited; nil = there is none.
    func auditNext() async throws -> RunAudit?
    /// Days of deliveries and attempts that are older than what is kept.
    func expiredDays() async throws -> [ExpiredDay]
    /// Whether `drop` and `export` have what they take: only who owns a table detaches a part of it.
    func mayDropDays() async throws -> Bool
    /// Writes a day as CSV with a header, in chunks, before it is dropped.
    func export(_ day: ExpiredDay, to body: @Sendable ([UInt8]) async throws -> Void) async throws
    /// Detaches the day without blocking writers or readers, then drops it.
    func drop(_ day: ExpiredDay) async throws
    /// Clears some old rows; how many.
    func forgetOld() async throws -> Int64
}

package struct RunAudit: Sendable, Equatable {
    package let run: Run.ID
    /// 0 is the good answer.
    package let problems: Int
    package init(run: Run.ID, problems: Int) {
        self.run = run
        self.problems = problems
    }
}

/// One day's partition.
package struct ExpiredDay: Sendable {
    /// `delivery` or `attempt`.
    package let table: String
    /// The partition's name, quoted as an identifier.
    package let partition: String
    /// An earlier detachment was interrupted.
    package let isHalfDetached: Bool
    /// An earlier drop was interrupted: it is a table by itself.
    package let isDetached: Bool
    package init(table: String, partition: String, isHalfDetached: Bool, isDetached: Bool = false) {
        self.table = table
        self.partition = partition
        self.isHalfDetached = isHalfDetached
        self.isDetached = isDetached
    }
}

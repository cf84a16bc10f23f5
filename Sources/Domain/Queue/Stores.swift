/// What a worker asks of the queue. Every call is one statement and one transaction; each has a deadline of its own.
/// A call that throws may have taken effect: it can be repeated as it is, and a repeat changes nothing.
package protocol BatchStore: FlowStore {
    /// Registers the worker under its fresh identity; its lease runs from now.
    func enlist(_ worker: WorkerID, lease: Duration) async throws
    /// The shards that hold work.
    func shards() async throws -> [Shard]
    /// Up to eight pairs to name in the next claims of that lane, the most entitled first, without those that the
    /// caller has enough of.
    func heads(of shard: Shard, lane: Lane, without sated: Sated) async throws -> [Pair]
    /// One batch of the most entitled pair that has one free; nil = nothing to claim, or the lease has lapsed.
    func claim(shard: Shard, worker: WorkerID, claimNumber: Int32, pairs: [Pair]) async throws -> ClaimedBatch?
    /// The unmarked jobs of a claimed batch, by ordinal, with `names` of each recipient's attributes.
    func jobs(of batch: ClaimedBatch, attributes names: [String]) async throws -> [PushJob]
    /// Those of the batch's unmarked jobs, by ordinal, that a cap or quiet hours hold back; the others have room reserved
    /// for them. A repeat reserves nothing again.
    func reserve(_ batch: ClaimedBatch, worker: WorkerID) async throws -> [Int16: Withheld]
    /// Records, announces, renews. A named batch that is missing from the answer is lost: drop it.
    func flush(_ flush: Flush, worker: WorkerID, lease: Duration) async throws -> [Flush.State]
    /// Gives a batch back. `begun`: ordinals below it that are unmarked may have left (0 = none).
    func handBack(_ batch: ClaimedBatch, begun: Int, notBefore: Duration?, worker: WorkerID) async throws
    func contentVersion(_ id: ContentVersion.ID) async throws -> ContentVersion
    func route(_ id: Route.ID) async throws -> Route?
    /// The route that a subscriber of this kind has now; nil = none.
    func route(app: App.ID, transport: TransportKind, service: Int16) async throws -> Route?
    /// Stops a run and keeps why, in a sentence with figures. One that is not running stays as it is, and so does the
    /// standing run of single notifications, each of which says something of its own.
    /// - Returns: whether it stopped now.
    func pause(run: Run.ID, reason: Reason, detail: String) async throws -> Bool
    /// Moves the states of addresses as the answers say; an address that changed meanwhile is not touched.
    func weigh(_ answers: [AddressAnswer], in shard: Shard) async throws
    /// Keeps where addresses proved to belong: the next notification is sent there first. An address that changed
    /// meanwhile is not touched.
    func correctEnvironments(_ proven: [ProvenEnvironment], in shard: Shard) async throws
    /// The database's clock.
    func now() async throws -> Instant
}

/// Runs and routes of which a worker holds as much as their rates let it send soon.
package struct Sated: Equatable, Sendable {
    package var runs: Set<Run.ID> = []
    package var routes: Set<Route.ID> = []
    package init() {}

    package func contains(_ pair: Pair) -> Bool { runs.contains(pair.run) || routes.contains(pair.route) }
}

extension BatchStore {
    package func heads(of shard: Shard, lane: Lane) async throws -> [Pair] {
        try await heads(of: shard, lane: lane, without: Sated())
    }
}

/// What a look at the recurring campaigns came to.
package struct BegunOccurrences: Sendable, Equatable {
    package var begun = 0
    /// Missed or overlapping ones that the campaign's policies pass over.
    package var passedOver = 0
    /// Runs that had waited for the one before them.
    package var released = 0
    package init() {}

    package static func += (sum: inout Self, other: Self) {
        sum.begun += other.begun
        sum.passedOver += other.passedOver
        sum.released += other.released
    }
}

/// What a scheduler asks of the queue. Calls may race with another scheduler's: whoever comes second finds nothing to do.
package protocol ScheduleStore: Sendable {
    func shards() async throws -> [Shard]
    /// Runs of that shard whose expansion is due and unfinished, oldest first.
    func unexpandedRuns(of shard: Shard) async throws -> [Run.ID]
    /// Makes runs of the recurring campaigns' occurrences that are due, each once, and lets queued runs begin.
    func beginOccurrences() async throws -> BegunOccurrences
    /// Checks campaigns that came through SQL, and begins each or refuses it with all that is wrong.
    func admitCampaigns() async throws -> AdmittedCampaigns
    /// Learns which time zones the database's server knows.
    func refreshTimeZones() async throws
    /// Expands one page; nil = another scheduler is at it, or there is nothing to do.
    func expand(run: Run.ID, shard: Shard, pageSize: Int32) async throws -> ExpandedPage?
    /// Brings the pairs' heads up to date, at most once a second whoever calls.
    func refreshHeads(of shard: Shard, lane: Lane) async throws
    /// Makes scheduled batches that are due ready; how many.
    func promote(shard: Shard, limit: Int32) async throws -> Int
    /// Lets routes whose breaker is open be tried again when their time has come; how many.
    func reopenRoutes() async throws -> Int
    /// Cuts retries that are due into new batches; how many jobs.
    func rebatch(shard: Shard, limit: Int32) async throws -> Int
    /// Seals the current job partition and opens the next when it is old or full.
    func rotateBucketIfNeeded() async throws
    /// Makes sure that there are partitions for the coming days.
    func ensureDays() async throws
    /// Waits for a hint that work arrived, at most `atMost`. A hint may be missing or false: polling is the truth.
    func waitForHint(atMost: Duration) async
}

package struct AdmittedCampaigns: Sendable, Equatable {
    package var begun = 0
    package var refused = 0
    package init() {}
}

package struct ExpandedPage: Sendable {
    /// Subscribers that this page took.
    package var targeted: Int
    /// The run's expansion in this shard is complete.
    package var complete: Bool
    package init(targeted: Int, complete: Bool) {
        self.targeted = targeted
        self.complete = complete
    }
}

/// What a janitor asks of the queue.
package protocol HousekeepingStore: Sendable {
    func shards() async throws -> [Shard]
    /// Notes every worker whose lease has lapsed, as this janitor sees it.
    func sight(as janitor: WorkerID, longestGap: Duration) async throws
    /// Frees the batches of workers that were seen lapsed for `span`; how many.
    func rescue(shard: Shard, span: Duration) async throws -> Int
    /// Ends what is left of cancelled runs and what expired while nobody held it; how many batches.
    func settle(shard: Shard) async throws -> Int
    /// Moves the low marks up to the first ready batch.
    func raiseWatermarks(shard: Shard) async throws
    /// Proves the low marks; how many were wrong, which must be 0.
    func sweep(shard: Shard) async throws -> Int
    /// Closes runs whose work is all done; how many.
    func closeRuns() async throws -> Int
    /// Empties and drops job partitions that are no longer needed; how many were dropped.
    func dropBuckets(shards: [Shard]) async throws -> Int
    func forgetWorkers(lapsedFor: Duration) async throws
    /// Retires addresses whose evidence is older than `hold` and part of no wave; what it found.
    func judgeTokens(hold: Duration) async throws -> TokenJudgement
    /// Deletes subscribers that were retired longer ago than `grace`, and evidence as old; how many subscribers.
    func clearTokens(grace: Duration) async throws -> Int
    /// Forgets users whose cap's window is over, `limit` of them after a place; where to go on, nil = that was the end.
    func forgetFrequencies(after place: FrequencyPlace, limit: Int32) async throws -> FrequencyPlace?
    /// Clears away the timetables of seconds that are long over.
    func forgetRates(olderThan: Duration) async throws
    func ensureDays() async throws
}

/// A place in the order in which users under a cap are walked.
package struct FrequencyPlace: Equatable, Sendable {
    package var app: Int64
    package var user: String
    package static let start = Self(app: 0, user: "")
    package init(app: Int64, user: String) {
        self.app = app
        self.user = user
    }
}

/// One statement's worth of news from a worker for one shard: what it holds, what became of jobs, what it begins next.
/// Without items it is the pulse: it renews the lease and is the freshness gate.
package struct Flush: Sendable {
    package var shard: Shard
    /// Highest claim number that was answered or given up.
    package var answeredClaims: Int32
    /// Claim number up to which an answered pulse has already looked for unknown batches.
    package var checkedClaims: Int32
    package var held: [Held]
    package var items: [Item]

    package init(shard: Shard, answeredClaims: Int32, checkedClaims: Int32, held: [Held], items: [Item]) {
        self.shard = shard
        self.answeredClaims = answeredClaims
        self.checkedClaims = checkedClaims
        self.held = held
        self.items = items
    }

    /// A batch that the worker believes to hold.
    package struct Held: Sendable {
        package var batch: Batch.ID
        package var epoch: Int32
        /// Ordinals below this may be begun once the flush is answered.
        package var announce: Int32
        package init(batch: Batch.ID, epoch: Int32, announce: Int32) {
            self.batch = batch
            self.epoch = epoch
            self.announce = announce
        }
    }

    /// What became of one job.
    package struct Item: Sendable {
        package var batch: Batch.ID
        package var ordinal: Int16
        package var number: Int64
        package var subscriber: Subscriber.ID
        /// nil = try again later.
        package var outcome: Outcome?
        package var status: Int16?
        package var reason: Reason
        /// Attempts made so far, this one included if it is charged.
        package var attempts: Int16
        /// It may have left and no answer came.
        package var mayHaveLeft: Bool
        /// Not again before this from now: backoff and `Retry-After` are in it.
        package var wait: Duration
        /// Another attempt is free of charge and due at once.
        package var free: Bool
        /// The route that it moved to; nil = the batch's.
        package var route: Route.ID?
        package var addressVersion: Int32?
        /// What the answer says of the address: counted by credential and minute.
        package var evidence: AddressEvidence?
        package var providerID: String?
        /// The language served.
        package var language: String?
        /// The language asked for, as the subscriber has it.
        package var asked: String?
        /// Where it differs from the batch's.
        package var expiresAt: Instant?
        /// Collected notifications only; nil = the batch's.
        package var contentVersion: ContentVersion.ID?
        /// How long before the flush it was begun, and how long the provider took, in milliseconds; nil = not begun.
        package var begunMillisecondsAgo: Int32?
        package var latencyMilliseconds: Int32?
        /// When it was begun, by the worker's own clock: `begunMillisecondsAgo` is told from it at each flush.
        package var begunAt: ContinuousClock.Instant?
        /// When the first attempt that was charged was begun, if that was before this batch.
        package var firstAttemptAt: Instant?

        package init(
            batch: Batch.ID, ordinal: Int16, number: Int64, subscriber: Subscriber.ID, outcome: Outcome?,
            status: Int16? = nil, reason: Reason, attempts: Int16, mayHaveLeft: Bool = false, wait: Duration = .zero,
            free: Bool = false, route: Route.ID? = nil, addressVersion: Int32? = nil, providerID: String? = nil,
            language: String? = nil, expiresAt: Instant? = nil, contentVersion: ContentVersion.ID? = nil,
            begunMillisecondsAgo: Int32? = nil,
            latencyMilliseconds: Int32? = nil
        ) {
            self.batch = batch
            self.ordinal = ordinal
            self.number = number
            self.subscriber = subscriber
            self.outcome = outcome
            self.status = status
            self.reason = reason
            self.attempts = attempts
            self.mayHaveLeft = mayHaveLeft
            self.wait = wait
            self.free = free
            self.route = route
            self.addressVersion = addressVersion
            self.providerID = providerID
            self.language = language
            self.expiresAt = expiresAt
            self.contentVersion = contentVersion
            self.begunMillisecondsAgo = begunMillisecondsAgo
            self.latencyMilliseconds = latencyMilliseconds
        }
    }

    /// What the database answered for a batch that is still (or was, until this flush) the worker's.
    package struct State: Sendable {
        package var batch: Batch.ID
        package var state: BatchState
        package var announced: Int32
        package var run: RunStatus
        package var route: RouteState
        /// A rate of its run, route or app holds now: slots must be taken.
        package var isPaced = false
        package init(batch: Batch.ID, state: BatchState, announced: Int32, run: RunStatus, route: RouteState) {
            self.batch = batch
            self.state = state
            self.announced = announced
            self.run = run
            self.route = route
        }
    }
}

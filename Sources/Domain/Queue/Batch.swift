/// Up to some hundreds of jobs of one run, one route and one due instant, claimed, leased and sent together.
package enum Batch { package typealias ID = Identifier<Batch> }

/// A worker process. Random at every start and never a number of the database, which a failover could issue twice.
package struct WorkerID: Hashable, Sendable, CustomStringConvertible {
    /// As PostgreSQL prints a `uuid`.
    package let description: String
    package init(_ uuid: String) { description = uuid.lowercased() }
}

/// One run on one route: the unit that a claim looks at.
package struct Pair: Hashable, Sendable {
    package let run: Run.ID
    package let route: Route.ID
    package init(run: Run.ID, route: Route.ID) {
        self.run = run
        self.route = route
    }
}

/// One bit for each ordinal of a batch, in PostgreSQL's order: ordinal 0 is the first byte's highest bit.
package struct OrdinalSet: Hashable, Sendable {
    package private(set) var bytes: [UInt8]
    package let count: Int

    package init(bytes: [UInt8], count: Int) {
        precondition(bytes.count == (count + 7) / 8, "a bit string's bytes must match its length")
        self.bytes = bytes
        self.count = count
    }

    package subscript(ordinal: Int) -> Bool {
        get { bytes[ordinal >> 3] & (UInt8(0x80) >> UInt8(truncatingIfNeeded: ordinal & 7)) != 0 }
        set {
            let bit = UInt8(0x80) >> UInt8(truncatingIfNeeded: ordinal & 7)
            if newValue { bytes[ordinal >> 3] |= bit } else { bytes[ordinal >> 3] &= ~bit }
        }
    }
}

/// A batch as its claim returned it: this worker's until its lease lapses.
package struct ClaimedBatch: Sendable {
    package var shard: Shard
    package var id: Batch.ID
    package var run: Run.ID
    package var route: Route.ID
    package var bucket: Int32
    /// With the worker's id, the fence: every later write names it.
    package var epoch: Int32
    package var size: Int
    /// Ordinals below this may be begun; the next flush may raise it.
    package var announced: Int
    package var marked: OrdinalSet
    package var lapses: Int16
    package var contentVersion: ContentVersion.ID
    package var expiresAt: Instant
    package var policy: InDoubtPolicy
    /// Made of single notifications: its jobs may have different content versions.
    package var isCollected: Bool
    /// How many unmarked ordinals may be announced at a time.
    package var announceWindow: Int
    /// What holds for its jobs.
    package var terms = BatchTerms()
    /// Between these lie the ids of its subscribers; nil = not told.
    package var subscribers: ClosedRange<Int64>?

    /// A batch that lapsed twice is sent alone, one job at a time, so that a third lapse names the poisonous one.
    package var isSuspect: Bool { lapses >= 2 }

    package init(
        shard: Shard, id: Batch.ID, run: Run.ID, route: Route.ID, bucket: Int32, epoch: Int32, size: Int,
        announced: Int, marked: OrdinalSet, lapses: Int16, contentVersion: ContentVersion.ID, expiresAt: Instant,
        policy: InDoubtPolicy,
        announceWindow: Int, isCollected: Bool = false
    ) {
        self.shard = shard
        self.id = id
        self.run = run
        self.route = route
        self.bucket = bucket
        self.epoch = epoch
        self.size = size
        self.announced = announced
        self.marked = marked
        self.lapses = lapses
        self.contentVersion = contentVersion
        self.expiresAt = expiresAt
        self.policy = policy
        self.announceWindow = announceWindow
        self.isCollected = isCollected
    }
}

/// The terms of its run, route and app under which a batch was claimed.
package struct BatchTerms: Equatable, Sendable {
    package var lane = Lane.campaign
    package var maxAttempts = 8
    package var retryHorizon = Duration.seconds(3600)
    /// Requests a second for the fleet; nil = no limit.
    package var runRate: Int?
    package var routeRate: Int?
    package var appRate: Int?
    /// A cap or quiet hours may hold for some of its jobs: `reserve` before any is begun.
    package var isLimited = false

    package init() {}

    package var isPaced: Bool { runRate != nil || routeRate != nil || appRate != nil }
}

/// One notification for one subscriber in one run. (`Job` alone is a type of Swift's own.)
package struct PushJob: Sendable {
    package var ordinal: Int16
    package var number: Int64
    package var subscriber: Subscriber.ID
    /// Made before this claim.
    package var attempts: Int16
    /// Collected notifications only: theirs differ within a batch.
    package var contentVersion: ContentVersion.ID?
    package var expiresAt: Instant?
    /// As the subscriber is now (late binding); nil = erased since expansion.
    package var recipient: Recipient?
    /// When the first attempt that was charged was begun; nil = there was none.
    package var firstAttemptAt: Instant?

    package init(
        ordinal: Int16, number: Int64, subscriber: Subscriber.ID, attempts: Int16, contentVersion: ContentVersion.ID?,
        expiresAt: Instant?, recipient: Recipient?
    ) {
        self.ordinal = ordinal
        self.number = number
        self.subscriber = subscriber
        self.attempts = attempts
        self.contentVersion = contentVersion
        self.expiresAt = expiresAt
        self.recipient = recipient
    }
}

/// What a claim reads of a subscriber.
package struct Recipient: Sendable {
    package var transport: TransportKind
    /// Web Push: which push service; else 0.
    package var service: Int16
    package var state: SubscriberState
    package var address: Address
    package var addressVersion: Int32
    package var language: String?
    /// In the order of the names that were asked for; nil = missing, null, or no scalar.
    package var values: [String?]

    package init(
        transport: TransportKind, service: Int16, state: SubscriberState, address: Address, addressVersion: Int32,
        language: String?, values: [String?]
    ) {
        self.transport = transport
        self.service = service
        self.state = state
        self.address = address
        self.addressVersion = addressVersion
        self.language = language
        self.values = values
    }
}

/// A job that must not be sent now, as its user was disturbed often enough or sleeps.
package struct Withheld: Equatable, Sendable {
    package var reason: Reason
    /// Until it may be sent; nil = it is skipped.
    package var wait: Duration?
    package init(reason: Reason, wait: Duration?) {
        self.reason = reason
        self.wait = wait
    }
}

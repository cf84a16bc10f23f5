/// What an operator can set of a worker, with values that suit most.
package struct WorkerConfiguration: Sendable {
    /// How long the database lets it hold its batches without hearing from it.
    package var lease: Duration = .seconds(15)
    /// Longest time between two flushes.
    package var pulse: Duration = .milliseconds(250)
    /// Outcomes that start a flush at once.
    package var flushSize = 100
    /// Shortest time between the beginnings of two flushes.
    package var flushRest: Duration = .milliseconds(20)
    /// Most outcomes that one flush carries.
    package var largestFlush = 2_000
    /// No request is begun unless a flush asked for within this span was answered (design §5, freshness gate).
    package var freshness: Duration = .milliseconds(700)
    /// Jobs of one route read ahead beyond those in flight.
    package var prefetch = 1_000
    /// The same of all routes, so that memory stays bounded however many of them are slow.
    package var mostWaiting = 32_000
    /// Requests handed to a transport at a time, so that a batch starts before it is rendered to its end.
    package var chunk = 100
    /// Longest wait between two looks for work while idle.
    package var idle: Duration = .milliseconds(250)
    /// A batch of which nothing could be begun for this long goes back, uncharged.
    package var patience: Duration = .seconds(5)
    /// One of so many parts of what can be in flight is kept for the transactional lane.
    package var laneShare = 8
    /// Most batches held at a time: those of throttled runs wait long.
    package var mostBatches = 256
    /// How often the files of paused credentials are looked at.
    package var credentialWatch: Duration = .seconds(3)
    /// How long a drain waits for answers before it ends hard.
    package var drainLimit: Duration = .seconds(20)

    /// Most notifications that one collect takes.
    package var collectLimit: Int32 = 100
    /// Single notifications of one run that may be held at once: an eighth of what is in flight is kept for them.
    package var laneBudget = 500
    /// The same of all runs; of those that a rate holds a second's worth counts.
    package var laneMost = 4_000
    /// Wait between two looks at the transactional lane: with the duty of it, and without.
    package var collectOnDuty: Duration = .milliseconds(5)
    package var collectOffDuty: Duration = .milliseconds(250)
    /// And with the first slot of it, for `collectWarmth` after something was found: where one comes, another often follows.
    package var collectWarm: Duration = .microseconds(500)
    package var collectWarmth: Duration = .milliseconds(200)

    /// A campaign's run pauses itself when so many subscribers in a row are refused for the same reason; 0 = never.
    package var refusalsInARow = 100
    /// Evidence about addresses that is kept while the database is not to be had; what is beyond is dropped.
    package var mostEvidence = 10_000

    package init() {}
}

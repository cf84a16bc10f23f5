enum ModelRun: UInt8 { case running, paused, cancelled }

enum ModelOutcome: UInt8 { case moved, delivered, failed, expired, cancelled, skipped, inDoubt }

/// A job in the hands of a worker.
enum Slot: UInt8 {
    /// Marked before, or not returned by the reading.
    case foreign
    case waiting
    // Answered or settled, not flushed.
    case delivered, refused, retryable, unanswered, expired, skipped

    var isReady: Bool { self != .foreign && self != .waiting }
}

/// Seven counters.
struct Tallies: Hashable {
    private var packed: UInt64 = 0

    subscript(_ outcome: ModelOutcome) -> Int { Int(packed >> (UInt64(outcome.rawValue) * 8) & 0xFF) }
    mutating func count(_ outcome: ModelOutcome) { packed += 1 << (UInt64(outcome.rawValue) * 8) }

    var sum: Int {
        var (rest, sum) = (packed, 0)
        while rest > 0 {
            sum += Int(rest & 0xFF)
            rest >>= 8
        }
        return sum
    }
}

struct ModelBatch: Hashable {
    enum Status: UInt8 { case ready, leased, done }

    static let nobody: Int8 = -1
    /// A process that ended.
    static let dead: Int8 = -2
    /// A live worker that does not know of it.
    static let stranger: Int8 = -3

    var status = Status.ready
    /// A worker by its place, or one of the above.
    var holder = nobody
    var jobs: [UInt8]
    var attempts: [UInt8]
    var isFromRetry = false
    /// Bits by ordinal.
    var marked: UInt8 = 0
    var doubtful: UInt8 = 0
    var announced: UInt8 = 0
    var tallies = Tallies()
    /// Counted only where there is a poisonous job.
    var lapses: UInt8 = 0
    /// Jobs that a third lapse ended.
    var named: [UInt8] = []

    var size: Int { jobs.count }
    var isFull: Bool { marked == UInt8(1 << jobs.count) - 1 }
    func isMarked(_ ordinal: Int) -> Bool { marked & UInt8(1 << ordinal) != 0 }
    func isDoubtful(_ ordinal: Int) -> Bool { doubtful & UInt8(1 << ordinal) != 0 }

    mutating func mark(_ ordinal: Int, as outcome: ModelOutcome) {
        tallies.count(outcome)
        marked |= UInt8(1 << ordinal)
    }
}

struct ModelRetry: Hashable, Comparable {
    var job: UInt8
    var doubtful: Bool
    var attempts: UInt8

    static func < (one: ModelRetry, other: ModelRetry) -> Bool {
        (one.job, one.doubtful ? 1 : 0, one.attempts) < (other.job, other.doubtful ? 1 : 0, other.attempts)
    }
}

/// What was recorded of a job.
struct Fate: Hashable {
    var records: UInt8 = 0
    var first: ModelOutcome?

    mutating func end(as outcome: ModelOutcome) {
        if records == 0 { first = outcome }
        records += 1
    }
}

struct ModelHold: Hashable {
    var batch: UInt8
    /// The fence still holds. Holder and epoch match the batch's row or never will again, so that a bit replaces them.
    var isOurs: Bool
    var slots: [Slot]
    /// Ordinals below this may be begun, as far as the worker knows.
    var announced: UInt8 = 0
}

/// What the answer of a claim says.
struct ModelClaim: Hashable {
    var batch: UInt8
    var announced: UInt8

    /// Not 0, and less than 256.
    var code: UInt64 { UInt64(batch + 1) << 4 | UInt64(announced) }
}

struct ModelWorker: Hashable {
    var hold: ModelHold?
    /// The run's status as it learnt it last.
    var known = ModelRun.running
    /// Claimed, and the answer has not come; nil = none.
    var claiming: ModelClaim?
    /// The same, given up; kept only where late answers are used.
    var late: ModelClaim?

    /// Equal for workers that cannot be told apart.
    var code: UInt64 {
        guard let hold else {
            let claims = (claiming?.code ?? 0) << 8 | (late?.code ?? 0)
            return claims << 48 | UInt64(known.rawValue)
        }
        var code = UInt64(hold.batch) + 1
        code = code << 1 | (hold.isOurs ? 1 : 0)
        code = code << 4 | UInt64(hold.announced)
        for slot in hold.slots { code = code << 3 | UInt64(slot.rawValue) }
        return code << 2 | UInt64(known.rawValue)
    }
}

/// Everything that exists at a committed instant: the tables, what workers know, and what providers took.
struct ModelState: Hashable {
    var run = ModelRun.running
    var hasExpired = false
    /// Used only without the rule that settlement repeats.
    var wasSettled = false
    var batches: [ModelBatch]
    /// Sorted.
    var retries: [ModelRetry] = []
    var fates: [Fate]
    var workers: [ModelWorker]
    /// By job, how often the provider took it.
    var accepted: [UInt8]
    var left: Faults

    /// The same state with workers in a fixed order, since they are interchangeable. Loses nothing.
    func canonical() -> ModelState {
        var state = self
        for (index, worker) in workers.enumerated() {
            guard let hold = worker.hold, hold.isOurs else { continue }
            let batch = batches[Int(hold.batch)]
            if batch.status != .leased || batch.holder != Int8(index) { state.workers[index].hold?.isOurs = false }
        }
        let codes = state.workers.map(\.code)
        let order = codes.indices.sorted { (codes[$0], $0) < (codes[$1], $1) }
        guard order != Array(codes.indices) else { return state }
        let before = state.workers
        for (place, index) in order.enumerated() { state.workers[place] = before[index] }
        for index in state.batches.indices where state.batches[index].holder >= 0 {
            let place = order.firstIndex(of: Int(state.batches[index].holder)) ?? 0
            state.batches[index].holder = Int8(place)
        }
        return state
    }
}

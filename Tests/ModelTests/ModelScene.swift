/// A rule of the queue's protocol. Each can be left out, to see the fault that it prevents.
struct Rules: OptionSet, Hashable, Sendable {
    let rawValue: UInt16

    /// A flush skips ordinals that are marked already; the batch's row is locked first and its bits decide.
    static let idempotentFlush = Rules(rawValue: 1 << 0)
    /// The statement, not the worker, decides that a batch is finished: all its bits are set.
    static let serverDecidesDone = Rules(rawValue: 1 << 1)
    /// Reading returns a job whose subscriber is gone; it ends as skipped.
    static let outerJoin = Rules(rawValue: 1 << 2)
    /// A cancel settles ready batches only; leased ones come back first, with what is known of them.
    static let settleReadyOnly = Rules(rawValue: 1 << 3)
    /// Settlement is repeated while the run is cancelled, the retry table included.
    static let settleRepeats = Rules(rawValue: 1 << 4)
    /// Ordinals are announced, which is committed, before they are begun: a rescue knows what may have left.
    static let announcements = Rules(rawValue: 1 << 5)
    /// A job that may have left ends as delivered or in_doubt, through retries and settlement too.
    static let stickyDoubt = Rules(rawValue: 1 << 6)
    /// A hand-back at the limit treats what was begun and is unanswered as a rescue does.
    static let handBackReports = Rules(rawValue: 1 << 7)
    /// A write by a worker that lost its batch changes nothing.
    static let fencedWrites = Rules(rawValue: 1 << 8)
    /// A batch under a worker's name that the worker does not know goes back: the claim's reply was lost.
    static let strangersReturn = Rules(rawValue: 1 << 9)

    /// A pulse looks for such batches only among claims that were answered or given up: of a later one the answer may
    /// be under way.
    static let answeredClaimsOnly = Rules(rawValue: 1 << 10)
    /// The answer of a claim that was given up is not used: its batch may be another's by then.
    static let lateAnswersUnused = Rules(rawValue: 1 << 11)
    /// A batch that lapsed twice announces one job at a time, none with its claim.
    static let suspectWindow = Rules(rawValue: 1 << 12)
    /// A third lapse ends the job that was announced.
    static let poisonEnds = Rules(rawValue: 1 << 13)

    static let all = Rules(rawValue: (1 << 14) - 1)

    func without(_ rules: Rules) -> Rules { subtracting(rules) }
}

/// How often each fault may still strike.
struct Faults: Hashable, Sendable {
    /// A worker's process ends at once.
    var kill: UInt8 = 0
    /// A worker is stalled so long that its batch is rescued, and then goes on.
    var falseRescue: UInt8 = 0
    /// A claim or flush is committed and its reply never comes.
    var lostReply: UInt8 = 0
    /// A claim is committed and its reply comes late, or after it was given up.
    var lateReply: UInt8 = 0
    var cancel: UInt8 = 0
    var pause: UInt8 = 0
    /// The message's life ends.
    var expiry: UInt8 = 0
    /// The provider refuses a job for now.
    var rejection: UInt8 = 0
    /// The provider refuses a job for good.
    var refusal: UInt8 = 0
    /// The provider takes a job and its answer never comes.
    var timeout: UInt8 = 0
    /// SIGTERM.
    var stop: UInt8 = 0

    static let none = Faults()

    /// Faults that may leave the fate of a job unknown.
    fileprivate var doubts: Int { Int(kill) + Int(falseRescue) + Int(timeout) + Int(stop) }
}

/// What is explored: jobs, workers, and the faults that strike.
struct Scene: Sendable {
    var name: String
    /// Jobs by batch of the expansion.
    var batches: [[UInt8]] = [[0, 1]]
    var workers = 2
    var assumeSent = false
    /// Ordinals announced ahead.
    var window = 1
    var faults = Faults.none
    /// Jobs whose subscriber is gone.
    var erased: Set<UInt8> = []
    var attempts: UInt8 = 2
    /// A job that kills every worker that begins it.
    var poison: UInt8?

    /// What may leave the fate of a job unknown, counted: faults, and deaths of the poison.
    var doubts: Int { faults.doubts + (poison == nil ? 0 : 3) }

    func under(assumeSent: Bool) -> Scene {
        var scene = self
        scene.assumeSent = assumeSent
        scene.name += assumeSent ? ", assume_sent" : ", retry"
        return scene
    }
}

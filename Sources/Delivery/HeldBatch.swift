import Domain

/// A kind of subscriber within an app, as routes tell them apart.
struct RouteKey: Hashable {
    let transport: TransportKind
    let service: Int16
}

/// A batch that this worker holds, with what it knows of each job. Confined to the worker's actor.
final class HeldBatch {
    /// The worker's running number for it; a ticket names it, so that a late result of an earlier claim finds nothing.
    let number: UInt32
    let claimed: ClaimedBatch
    let route: Route
    let transport: any Transport
    let messages: BatchMessages
    let jobs: [PushJob]
    /// Where subscribers that moved since expansion are reached now.
    let otherRoutes: [RouteKey: Route.ID]
    /// Index into `jobs` by ordinal, -1 where the ordinal was marked before.
    private let indices: [Int16]

    /// Ordinals below this may be begun; the database knows.
    private(set) var announced: Int
    /// The highest announcement that was asked for: the database may have it although no reply said so.
    private(set) var asked: Int
    /// The run is running and the route is open, as the last flush said.
    var isLive = true {
        didSet { if isClosed { isLive = false } }
    }
    /// Nothing more of it is begun here, even if its route opens again: by then its credential may have another file.
    private(set) var isClosed = false
    /// When the statement was asked for that last said so: its claim, or a flush that named it.
    var confirmedAt: ContinuousClock.Instant
    /// By ordinal, those that a cap or quiet hours hold back.
    var withheld: [Int16: Withheld] = [:]
    /// By ordinal, what a first try came back with.
    var secondTries: [Int16: SecondTry] = [:]
    /// A rate holds: each job needs a slot.
    var isPaced: Bool
    /// First job that was not begun yet.
    private(set) var next = 0
    /// Jobs that came back without having left, by index, lowest first.
    private var returned: [Int] = []
    private(set) var inFlight = 0
    /// Ordinals below this were handed to the transport at least once.
    private(set) var begun = 0
    /// Outcomes that no answered flush has carried.
    var unrecorded: [Flush.Item] = []
    /// When something of it last moved.
    var movedAt: ContinuousClock.Instant

    init(
        number: UInt32, claimed: ClaimedBatch, jobs: [PushJob], route: Route, otherRoutes: [RouteKey: Route.ID],
        transport: any Transport, messages: BatchMessages, now: ContinuousClock.Instant
    ) {
        self.number = number
        self.claimed = claimed
        self.route = route
        self.otherRoutes = otherRoutes
        self.transport = transport
        self.messages = messages
        self.jobs = jobs
        announced = claimed.announced
        asked = claimed.announced
        isPaced = claimed.terms.isPaced
        movedAt = now
        confirmedAt = now
        var indices = [Int16](repeating: -1, count: claimed.size)
        for (index, job) in jobs.enumerated() { indices[Int(job.ordinal)] = Int16(index) }
        self.indices = indices
    }

    var isSuspect: Bool { claimed.isSuspect }

    func close() {
        isClosed = true
        isLive = false
    }

    /// Nothing of it may have left without its outcome being recorded: it goes back without a doubt.
    var isRecorded: Bool { inFlight == 0 && unrecorded.isEmpty }
    var pair: Pair { Pair(run: claimed.run, route: claimed.route) }

    /// Jobs that may be begun now: announced, or come back.
    var beginnable: Int {
        var count = returned.count
        var index = next
        while index < jobs.count, Int(jobs[index].ordinal) < announced {
            count += 1
            index += 1
        }
        return count
    }

    /// Nothing of it can be begun before the next flush announces more.
    var awaitsAnnouncement: Bool { returned.isEmpty && next < jobs.count && Int(jobs[next].ordinal) >= announced }

    /// Jobs that wait to be begun.
    var waiting: Int { jobs.count - next + returned.count }

    func job(_ ordinal: Int16) -> PushJob? {
        guard indices.indices.contains(Int(ordinal)), indices[Int(ordinal)] >= 0 else { return nil }
        return jobs[Int(indices[Int(ordinal)])]
    }

    /// Takes the next job that may be begun now, in ordinal order; those that came back go first.
    func take() -> PushJob? {
        if !returned.isEmpty { return jobs[returned.removeFirst()] }
        guard next < jobs.count, Int(jobs[next].ordinal) < announced else { return nil }
        defer { next += 1 }
        return jobs[next]
    }

    /// Puts a job that was taken, but for which there was no room, back in front.
    func putBack(_ job: PushJob) {
        guard let index = indices[safe: Int(job.ordinal)], index >= 0 else { return }
        returned.insert(Int(index), at: 0)
    }

    func noteBegun(_ job: PushJob) {
        inFlight += 1
        begun = max(begun, Int(job.ordinal) + 1)
    }

    /// A begun job came back without having left.
    func noteReturned(_ job: PushJob) {
        inFlight -= 1
        let index = Int(indices[Int(job.ordinal)])
        let place = returned.firstIndex { $0 > index } ?? returned.endIndex
        returned.insert(index, at: place)
    }

    func noteAnswered() { inFlight -= 1 }

    func noteAsked(_ ordinals: Int) { asked = max(asked, ordinals) }

    func noteAnnounced(_ ordinals: Int) {
        noteAsked(ordinals)
        announced = max(announced, ordinals)
    }

    /// A job is announced and has no recorded outcome, as far as the database may know: a death now would name it.
    var isExposed: Bool {
        inFlight > 0 || !returned.isEmpty || !unrecorded.isEmpty
            || (next < jobs.count && Int(jobs[next].ordinal) < asked)
    }

    /// How far the next flush should announce: a window of jobs that are announced and have no outcome yet.
    var wantedAnnouncement: Int {
        guard next < jobs.count else { return announced }
        let first = Int(jobs[next].ordinal)
        if isSuspect { return inFlight == 0 && returned.isEmpty ? max(announced, first + 1) : announced }
        let room = claimed.announceWindow - inFlight - returned.count
        return max(announced, min(claimed.size, first + max(0, room)))
    }
}

/// A batch whose jobs are being read.
struct OpeningBatch {
    let claimed: ClaimedBatch
    /// When the statement was asked for that last said that it is live: its claim, or a flush that named it.
    var confirmedAt: ContinuousClock.Instant
    var isLive = true
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

/// A way out for one route: renders jobs, sends them, and says what became of each.
///
/// Sending never waits for an answer: results come through the sink, in any order, each ticket exactly once.
package protocol Transport: AnyObject, Sendable {
    /// Compiles what is the same for every job of a content version. Costly once; the worker keeps the result.
    /// - Throws: `ContentProblems` when the stored content breaks a strict rule.
    func prepare(_ content: ContentVersion) throws -> any PreparedMessage

    /// Renders `jobs` and begins their requests, in order, each before `beginBefore` or not at all (`notSent`).
    /// A job that cannot be rendered is answered `refused` through the sink and nothing of it leaves.
    func send(
        _ jobs: [OutgoingJob], of message: any PreparedMessage, beginBefore: ContinuousClock.Instant,
        to sink: @escaping ResultSink)

    /// How many requests it can have in flight at once. Jobs beyond that wait inside and may come back `notSent`.
    var capacity: Int { get }

    /// Ends its connections once their answers are in, or at `deadline`, when what is open comes back `mayHaveLeft`.
    func close(by deadline: ContinuousClock.Instant) async
}

/// A content version compiled by a transport for its own use. Opaque to everybody else.
package protocol PreparedMessage: Sendable {}

/// Takes results as they come, on any thread, without blocking.
package typealias ResultSink = @Sendable ([SendResult]) -> Void

/// The worker's own handle for a job that it holds: which batch (the worker's running number) and which ordinal.
package struct Ticket: Hashable, Sendable {
    package let batch: UInt32
    package let ordinal: Int16
    package init(batch: UInt32, ordinal: Int16) {
        self.batch = batch
        self.ordinal = ordinal
    }
}

/// Who a job is for life, through every retry. All identifiers on the wire derive from it, so that a repeat replaces itself.
package struct JobIdentity: Hashable, Sendable {
    package let run: Run.ID
    package let number: Int64
    package init(run: Run.ID, number: Int64) {
        self.run = run
        self.number = number
    }

    /// `id` in every payload: the run and the number, in decimal, joined by a hyphen.
    package var text: String { "\(run.rawValue)-\(number)" }
}

/// A job that is about to be sent.
package struct OutgoingJob: Sendable {
    package var ticket: Ticket
    package var identity: JobIdentity
    package var address: Address
    /// As stored: any spelling, possibly malformed.
    package var language: String?
    /// The subscriber's value for each of the content version's placeholder names, in that order; nil = missing.
    package var values: [String?]
    /// For how long the provider may keep it: what is left of its life, in whole seconds; 0 = not at all.
    package var remainingSeconds: Int64
    /// What the first try came back with, if this is the second.
    package var secondTry: SecondTry?

    package init(
        ticket: Ticket, identity: JobIdentity, address: Address, language: String?, values: [String?],
        remainingSeconds: Int64, secondTry: SecondTry? = nil
    ) {
        self.ticket = ticket
        self.identity = identity
        self.address = address
        self.language = language
        self.values = values
        self.remainingSeconds = remainingSeconds
        self.secondTry = secondTry
    }
}

/// Why a job goes a second time at once: the provider refused the first try for what lies with us, and did nothing of it.
package enum SecondTry: Hashable, Sendable {
    /// APNs: the environment tried first does not know the token.
    case otherEnvironment(PushEnvironment)
    /// The connection was at fault, as the answer's reason says.
    case otherConnection(Reason)
}

/// What became of one job that was given to a transport.
package struct SendResult: Sendable {
    package enum Fate: Sendable, Equatable {
        /// The provider answered, or the renderer refused before anything left (`status` nil).
        case answered(Answer)
        /// Certainly not processed by the provider: it is sent again at once, free of charge.
        case notSent(Reason)
        /// Refused, and worth a second try: it is given again at once, free of charge, with this. It needs slots of its
        /// own where a rate holds, as it is a request of its own.
        case tryAgain(SecondTry)
        /// It may have been processed: the campaign's in-doubt policy decides.
        case mayHaveLeft(Reason)
    }

    package var ticket: Ticket
    package var fate: Fate
    /// The provider's HTTP status; nil = no answer.
    package var status: Int16?
    /// The key of the variant that was sent, as the author spelled it.
    package var language: String?
    /// From begun to answered; nil when it was not begun.
    package var latency: Duration?
    /// APNs: where the address proved to belong, when it is not where it was sent first.
    package var environment: PushEnvironment?

    package init(ticket: Ticket, fate: Fate, status: Int16? = nil, language: String? = nil, latency: Duration? = nil) {
        self.ticket = ticket
        self.fate = fate
        self.status = status
        self.language = language
        self.latency = latency
    }
}

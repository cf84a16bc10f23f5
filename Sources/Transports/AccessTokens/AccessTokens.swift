import Domain
import Logging
import Threading

/// The access token of one credential: shared with the fleet through a row of the database, refreshed by one worker at
/// a time, well before it expires. Senders read a snapshot and never wait.
final class AccessTokens: Sendable {
    struct Configuration: Sendable {
        /// When to refresh, as a share of the lifetime. Jitter spreads the fleet around it.
        var refreshShare = 0.78
        var jitterShare = 0.02
        /// How long one worker may be at it before another tries.
        var refreshSpan = Duration.seconds(30)
        /// How often the row is read while another worker refreshes.
        var pollInterval = Duration.milliseconds(500)
        /// First and longest wait after a failure that may pass.
        var firstRetry = Duration.seconds(1)
        var longestRetry = Duration.seconds(60)
        /// How often the endpoint is asked again after a refusal that only a person can mend.
        var refusalInterval = Duration.seconds(60)
        /// How often the row and the key file are looked at although nothing is due.
        var idleInterval = Duration.seconds(300)
        /// A token is not used any more this long before its end: a request has to arrive, too.
        var margin = Duration.seconds(5)

        init() {}
    }

    let credential: Credential.ID
    let worker: WorkerID
    let source: any TokenSource
    let store: any AccessTokenStore
    let configuration: Configuration
    let logger: Logger
    private let state = Locked(TokenState())
    private let wakeup = Wakeup()
    private let waiting = Locked<[Wakeup]>([])

    init(
        credential: Credential.ID, worker: WorkerID, source: any TokenSource, store: any AccessTokenStore,
        configuration: Configuration, logger: Logger
    ) {
        self.credential = credential
        self.worker = worker
        self.source = source
        self.store = store
        self.configuration = configuration
        self.logger = logger
    }

    /// What to send with now.
    func use() -> TokenState.Use {
        let now = ContinuousClock.now
        return state.withLock { $0.use(at: now) }
    }

    /// The provider took a request that carried this token.
    func prove(_ generation: UInt64) { state.withLock { $0.prove(generation) } }

    /// The provider refused a request for this token. The first to say so starts the refresh.
    func reject(_ generation: UInt64) -> TokenState.Rejection {
        let rejection = state.withLock { $0.reject(generation) }
        if case .replaced(isFirst: true) = rejection { wakeup.signal() }
        return rejection
    }

    /// Looks at the key file and the row now: a person may have mended what the provider complains of.
    func lookAgain() { wakeup.signal() }

    /// Keeps the token fresh until the task is cancelled.
    func run() async {
        var failures = 0
        while !Task.isCancelled {
            let next = await refreshIfDue(failures: &failures)
            await wakeup.wait(until: .now + next)
        }
    }

    /// Waits for the first token. `run` must be running.
    /// - Throws: `AccessTokenRefused` when none can be had until a person does something; `CancellationError`.
    func ready() async throws {
        let mine = Wakeup()
        waiting.withLock { $0.append(mine) }
        defer { waiting.withLock { $0.removeAll { $0 === mine } } }
        while true {
            switch use() {
            case .usable: return
            case .refused(let answer): throw AccessTokenRefused(answer: answer)
            case .awaited: break
            }
            try Task.checkCancellation()
            await mine.wait(until: .now + .seconds(60))
        }
    }

    /// Changes the state, then tells those who wait for a token.
    func update<Result>(_ change: (inout TokenState) -> Result) -> Result {
        let result = state.withLock { change(&$0) }
        for waiter in waiting.withLock({ $0 }) { waiter.signal() }
        return result
    }
}

/// The token endpoint refused for a reason that no repeat mends.
package struct AccessTokenRefused: Error, Sendable {
    /// `.credential` or `.config`.
    package let answer: Answer
}

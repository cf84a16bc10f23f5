import Domain
import Threading

/// An `AccessTokenStore` in memory, with a clock that a test sets.
final class MemoryTokenStore: AccessTokenStore {
    struct State: Sendable {
        var row: SealedToken?
        var refresher: (worker: WorkerID, until: Instant)?
        var now = Instant(microseconds: 1_774_000_000_000_000)
        var isDown = false
        var stored = 0
    }

    struct Down: Error {}

    let state = Locked(State())

    func sealedToken(credential: Credential.ID) async throws -> SealedToken? { try reachable { $0.row } }

    func beginRefresh(
        credential: Credential.ID, by worker: WorkerID, for span: Duration, replacing seen: Instant?
    ) async throws -> Bool {
        try reachable { state in
            guard state.row?.expiresAt == seen else { return false }
            if let holder = state.refresher, holder.worker != worker, state.now < holder.until { return false }
            state.refresher = (worker, state.now + span)
            return true
        }
    }

    func store(_ token: SealedToken, credential: Credential.ID, by worker: WorkerID) async throws {
        try reachable { state in
            state.row = token
            state.refresher = nil
            state.stored += 1
        }
    }

    func now() async throws -> Instant { try reachable { $0.now } }

    func advance(by span: Duration) { state.withLock { $0.now = $0.now + span } }

    private func reachable<Result>(_ body: (inout State) -> Result) throws -> Result {
        try state.withLock { state in
            if state.isDown { throw Down() }
            return body(&state)
        }
    }
}

import Domain

/// Which access token this process sends with, and what became of the last. A plain value: `AccessTokens` guards it.
struct TokenState: Sendable {
    struct Installed: Sendable {
        /// Grows with every token; a request remembers which one it carried.
        let generation: UInt64
        let token: AccessToken
        let projectID: String
        let issuedAt: Instant
        let expiresAt: Instant
        /// By this process' clock.
        let usableUntil: ContinuousClock.Instant
        /// It replaced one that FCM had refused.
        let isRepair: Bool
        /// FCM took it at least once.
        var isProven = false
    }

    enum Use: Sendable {
        case usable(Installed)
        /// None yet, or the last was refused and the next is on its way.
        case awaited
        /// None can be had until a person does something.
        case refused(Answer)
    }

    /// What a 401 without a code of FCM's means for the job that got it.
    enum Rejection: Sendable {
        /// The token is replaced; the job goes again, free of charge.
        case replaced(isFirst: Bool)
        /// The replacement was refused too: it is not the token.
        case credentialFault
    }

    private var installed: Installed?
    private var generation: UInt64 = 0
    /// `issuedAt` and `expiresAt` of the token that FCM refused, for as long as it may still lie in the database.
    private var rejected: (issuedAt: Instant, expiresAt: Instant)?
    private var refusal: Answer?

    func use(at now: ContinuousClock.Instant) -> Use {
        if let installed, now < installed.usableUntil { return .usable(installed) }
        return refusal.map { .refused($0) } ?? .awaited
    }

    /// FCM refused just this token.
    func isRejected(_ row: SealedToken) -> Bool {
        rejected.map { $0 == (row.issuedAt, row.expiresAt) } ?? false
    }

    func isInstalled(_ row: SealedToken) -> Bool {
        installed.map { ($0.issuedAt, $0.expiresAt) == (row.issuedAt, row.expiresAt) } ?? false
    }

    mutating func install(
        _ token: AccessToken, projectID: String, issuedAt: Instant, expiresAt: Instant,
        usableUntil: ContinuousClock.Instant
    ) {
        generation += 1
        installed = Installed(
            generation: generation, token: token, projectID: projectID, issuedAt: issuedAt, expiresAt: expiresAt,
            usableUntil: usableUntil, isRepair: rejected != nil)
        rejected = nil
        refusal = nil
    }

    /// A token in use lives on: what was refused is the next one.
    mutating func refuse(_ answer: Answer) { refusal = answer }

    /// A person changed the key file: what was said of the old one is void.
    mutating func forgetRefusal() { refusal = nil }

    mutating func prove(_ generation: UInt64) {
        if installed?.generation == generation { installed?.isProven = true }
    }

    mutating func reject(_ generation: UInt64) -> Rejection {
        guard let current = installed, current.generation == generation else { return .replaced(isFirst: false) }
        if current.isRepair, !current.isProven { return .credentialFault }
        rejected = (current.issuedAt, current.expiresAt)
        installed = nil
        return .replaced(isFirst: true)
    }
}

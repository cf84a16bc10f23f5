import Domain

/// Which access token this process sends with, and what became of the last. A plain value: `AccessTokens` guards it.
struct TokenState: Sendable {
    struct Installed: Sendable {
        /// Grows with every token; a request remembers which one it carried.
        let generation: UInt64
        let token: AccessToken
        /// What requests name beside the token.
        let owner: String
        let issuedAt: Instant
        let expiresAt: Instant
        /// By this process' clock.
        let usableUntil: ContinuousClock.Instant
        /// The database's, as read when the token was installed.
        let clock: DatabaseClock
        /// It replaced one that the provider had refused.
        let isRepair: Bool
        /// The provider took it at least once.
        var isProven = false

        /// How long ago it was asked for.
        func age(at now: ContinuousClock.Instant) -> Duration { clock.instant(at: now) - issuedAt }
    }

    enum Use: Sendable {
        case usable(Installed)
        /// None yet, or the last was refused and the next is on its way.
        case awaited
        /// None can be had until a person does something.
        case refused(Answer)
    }

    /// What a refusal of the token means for the job that got it.
    enum Rejection: Sendable {
        /// The token is replaced; the job goes again, free of charge.
        case replaced(isFirst: Bool)
        /// The replacement was refused too: it is not the token.
        case credentialFault
    }

    private var installed: Installed?
    private var generation: UInt64 = 0
    /// `issuedAt` and `expiresAt` of the token that the provider refused, for as long as it may still lie in the database.
    private var rejected: (issuedAt: Instant, expiresAt: Instant)?
    private var refusal: Answer?

    func use(at now: ContinuousClock.Instant) -> Use {
        if let installed, now < installed.usableUntil { return .usable(installed) }
        return refusal.map { .refused($0) } ?? .awaited
    }

    /// The provider refused just this token.
    func isRejected(_ row: SealedToken) -> Bool {
        rejected.map { $0 == (row.issuedAt, row.expiresAt) } ?? false
    }

    /// - Parameter owner: a token for another is of no use any more, since a person changed the key file.
    func isInstalled(_ row: SealedToken, owner: String) -> Bool {
        installed.map { ($0.issuedAt, $0.expiresAt, $0.owner) == (row.issuedAt, row.expiresAt, owner) } ?? false
    }

    mutating func install(
        _ token: AccessToken, owner: String, issuedAt: Instant, expiresAt: Instant,
        usableUntil: ContinuousClock.Instant, clock: DatabaseClock
    ) {
        generation += 1
        installed = Installed(
            generation: generation, token: token, owner: owner, issuedAt: issuedAt, expiresAt: expiresAt,
            usableUntil: usableUntil, clock: clock, isRepair: rejected != nil)
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

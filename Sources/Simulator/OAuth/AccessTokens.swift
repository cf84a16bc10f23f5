import Crypto

/// The access tokens that were issued and have not expired long ago.
struct AccessTokens: Sendable {
    struct Grant: Sendable {
        let project: String
        let expiresAt: ContinuousClock.Instant
    }

    enum Lookup {
        case granted(project: String)
        case expired
        case unknown
    }

    /// In seconds.
    let lifetime: Int
    private(set) var issued = 0
    /// By the whole `authorization` value, as it comes with every request.
    private var grants: [[UInt8]: Grant] = [:]

    init(lifetime: Int) {
        self.lifetime = lifetime
    }

    /// - Returns: the token's text.
    mutating func issue(for project: String, at now: ContinuousClock.Instant) throws -> String {
        // Those of two lifetimes ago are forgotten: they answer like any unknown token.
        grants = grants.filter { $0.value.expiresAt + .seconds(lifetime) > now }
        let token = "ya29." + Base64URL.encode(try SecureRandom.bytes(96))
        grants[Array("Bearer \(token)".utf8)] = Grant(project: project, expiresAt: now + .seconds(lifetime))
        issued += 1
        return token
    }

    func look(up authorization: [UInt8], at now: ContinuousClock.Instant) -> Lookup {
        guard let grant = grants[authorization] else { return .unknown }
        return grant.expiresAt > now ? .granted(project: grant.project) : .expired
    }

    /// Every token issued so far is invalid from now on.
    mutating func revokeAll() {
        grants = [:]
    }
}

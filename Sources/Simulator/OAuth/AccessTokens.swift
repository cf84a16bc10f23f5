import Crypto

/// The access tokens that were issued and have not expired long ago.
struct AccessTokens: Sendable {
    private struct Grant: Sendable {
        /// The whole `authorization` value, as it comes with every request.
        let authorization: [UInt8]
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
    /// By a hash of the `authorization` value, which the standard one would take as long for as for all the rest.
    private var grants: [UInt64: Grant] = [:]

    init(lifetime: Int) {
        self.lifetime = lifetime
    }

    /// - Returns: the token's text.
    mutating func issue(for project: String, at now: ContinuousClock.Instant) throws -> String {
        // Those of two lifetimes ago are forgotten: they answer like any unknown token.
        grants = grants.filter { $0.value.expiresAt + .seconds(lifetime) > now }
        let token = "ya29." + Base64URL.encode(try SecureRandom.bytes(96))
        let authorization = Array("Bearer \(token)".utf8)
        grants[Hash64.hash(authorization, seed: 0)] = Grant(
            authorization: authorization, project: project, expiresAt: now + .seconds(lifetime))
        issued += 1
        return token
    }

    func look(up authorization: [UInt8], at now: ContinuousClock.Instant) -> Lookup {
        guard let grant = grants[Hash64.hash(authorization, seed: 0)], grant.authorization == authorization else {
            return .unknown
        }
        return grant.expiresAt > now ? .granted(project: grant.project) : .expired
    }

    /// Every token issued so far is invalid from now on.
    mutating func revokeAll() {
        grants = [:]
    }
}

import Crypto

/// The signing keys that may send, and the provider tokens that came in.
struct ProviderTokens: Sendable {
    struct Key: Sendable {
        let teamID: String
        let keyID: String
        let topic: String
        let publicKey: P256.Signing.PublicKey
    }

    private struct Token: Sendable {
        let key: Key
        /// Seconds since 1970.
        let issuedAt: Double
    }

    /// What a connection is bound to.
    private struct Connection: Sendable {
        var team: String
        var keyID: String
        /// By a hash of the `authorization` value.
        var seen: Set<UInt64>
        var lastNewAt: ContinuousClock.Instant
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Double
    }

    private struct ConnectionID: Hashable {
        let number: UInt64
        let isSandbox: Bool
    }

    /// Apple's: not more often than that, and not older than an hour.
    static let shortestRenewal = Duration.seconds(1200)
    private static let longestLife = 3600.0
    /// What clocks may differ by, in seconds.
    private static let skew = 60.0
    private static let scheme = Array("bearer ".utf8)
    private static let keptConnections = 10_000

    var keys: [String: Key] = [:]
    /// By a hash of the `authorization` value: verifying takes as long as all the rest.
    private var verified: [UInt64: Token] = [:]
    private var connections: [ConnectionID: Connection] = [:]
    /// Different ones that were good, and those of them made within 20 minutes of the one before of the same key.
    private(set) var distinct = 0
    private(set) var renewedTooEarly = 0
    private var lastIssued: [String: Double] = [:]

    /// - Parameters:
    ///   - wallClock: seconds since 1970.
    /// - Returns: the key, or why the request is refused.
    mutating func check(
        _ authorization: [UInt8]?, _ fields: APNsFields, at now: ContinuousClock.Instant, wallClock: Double
    ) -> Result<Key, APNsRefusal> {
        guard let authorization else { return .failure(APNsRefusal(.missingProviderToken)) }
        let hash = Hash64.hash(authorization, seed: 0)
        guard let token = verified[hash] ?? verify(authorization, hash) else {
            return .failure(APNsRefusal(.invalidProviderToken))
        }
        guard token.issuedAt <= wallClock + Self.skew else { return .failure(APNsRefusal(.invalidProviderToken)) }
        guard wallClock - token.issuedAt <= Self.longestLife else {
            return .failure(APNsRefusal(.expiredProviderToken))
        }
        if let refusal = bind(token.key, hash, fields, at: now) { return .failure(APNsRefusal(refusal)) }
        return .success(token.key)
    }

    private mutating func verify(_ authorization: [UInt8], _ hash: UInt64) -> Token? {
        guard authorization.starts(with: Self.scheme) else { return nil }
        let text = String(decoding: authorization.dropFirst(Self.scheme.count), as: UTF8.self)
        guard let token = try? JSONWebToken(parsing: text), let keyID = token.header.kid, let key = keys[keyID],
            let claims = try? token.claims(as: Claims.self), claims.iss == key.teamID,
            claims.iat == claims.iat.rounded()
        else { return nil }
        do { try token.verify(using: key.publicKey) } catch { return nil }
        let known = Token(key: key, issuedAt: claims.iat)
        verified[hash] = known
        distinct += 1
        if let last = lastIssued[keyID], abs(claims.iat - last) < Self.shortestRenewal / .seconds(1) {
            renewedTooEarly += 1
        }
        lastIssued[keyID] = max(claims.iat, lastIssued[keyID] ?? claims.iat)
        return known
    }

    private mutating func bind(
        _ key: Key, _ hash: UInt64, _ fields: APNsFields, at now: ContinuousClock.Instant
    ) -> APNsReason? {
        let id = ConnectionID(number: fields.connection, isSandbox: fields.isSandbox)
        guard var connection = connections[id] else {
            if connections.count >= Self.keptConnections { connections = [:] }
            connections[id] = Connection(team: key.teamID, keyID: key.keyID, seen: [hash], lastNewAt: now)
            return nil
        }
        guard connection.team == key.teamID else { return .invalidProviderToken }
        guard connection.keyID == key.keyID else { return .unrelatedKeyIdInToken }
        if connection.seen.contains(hash) { return nil }
        guard now - connection.lastNewAt >= Self.shortestRenewal else { return .tooManyProviderTokenUpdates }
        connection.seen.insert(hash)
        connection.lastNewAt = now
        connections[id] = connection
        return nil
    }
}

/// Why a request is refused.
struct APNsRefusal: Error {
    let reason: APNsReason

    init(_ reason: APNsReason) {
        self.reason = reason
    }
}

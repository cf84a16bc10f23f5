import Crypto
import Domain
import HTTP2
import Threading

/// One host of a push service: its connections, and what requests to it share.
final class WebPushOrigin: Sendable {
    private struct Signed: Sendable {
        let generation: UInt64
        let token: VAPIDToken
        var blocks: [WebPushPreparedMessage.Headers.Urgency: HTTP2FieldBlock] = [:]
    }

    let client: HTTP2Client
    private let audience: String
    private let service: WebPushService
    /// Requests whose result is still to come.
    private let outstanding = Locked(0)
    private let signed = Locked<[Credential.ID: Signed]>([:])

    init(client: HTTP2Client, audience: String, service: WebPushService) {
        self.client = client
        self.audience = audience
        self.service = service
    }

    var isIdle: Bool { outstanding.withLock { $0 == 0 } }

    /// Counts requests that are about to be submitted.
    func begin(_ count: Int) { outstanding.withLock { $0 += count } }
    func end(_ count: Int) { outstanding.withLock { $0 -= count } }

    /// The fields of all requests under one key, made anew when their token ages.
    /// - Parameter now: seconds since 1970, by this machine: push services allow hours of difference.
    func fields(
        _ id: Credential.ID, _ entry: VAPIDKeyring.Entry, _ urgency: WebPushPreparedMessage.Headers.Urgency, now: Int64
    ) throws(CryptoError) -> HTTP2FieldBlock {
        try signed.withLock { known throws(CryptoError) in
            var signed =
                if let before = known[id], before.generation == entry.generation, before.token.isFresh(at: now) {
                    before
                } else {
                    Signed(
                        generation: entry.generation, token: try VAPIDToken(for: audience, key: entry.key, now: now))
                }
            if let block = signed.blocks[urgency] { return block }
            let block = HTTP2FieldBlock(Self.fields(signed.token.authorization, urgency, service))
            signed.blocks[urgency] = block
            known[id] = signed
            return block
        }
    }

    /// What requests under one key and urgency share.
    static func fields(
        _ authorization: String, _ urgency: WebPushPreparedMessage.Headers.Urgency, _ service: WebPushService
    ) -> [HTTP2Field] {
        var fields = [
            HTTP2Field("authorization", authorization, noIndex: false),
            HTTP2Field("content-encoding", "aes128gcm", noIndex: false),
            HTTP2Field("content-type", "application/octet-stream", noIndex: false),
            HTTP2Field("urgency", urgency.rawValue, noIndex: false),
        ]
        // Must agree with `TTL`, which is never 0 there.
        if service == .wns { fields.append(HTTP2Field("x-wns-cache-policy", "cache", noIndex: false)) }
        return fields
    }
}

/// The hosts that connections are kept to. Their number is bounded, since strangers name them.
struct WebPushOrigins: Sendable {
    private struct Place: Sendable {
        let origin: WebPushOrigin
        var usedAt: UInt64
    }

    private let limit: Int
    private var places: [HTTP2Origin: Place] = [:]
    private var uses: UInt64 = 0

    init(limit: Int) { self.limit = max(1, limit) }

    var all: [WebPushOrigin] { places.values.map(\.origin) }

    /// The host's entry, made if there is none; then the one that was used longest ago makes room, if it is idle.
    /// - Returns: nil when all hosts have requests under way.
    mutating func use(_ host: HTTP2Origin, make: () -> WebPushOrigin) -> WebPushOrigin? {
        uses += 1
        if let known = places[host]?.origin {
            places[host]?.usedAt = uses
            return known
        }
        if places.count >= limit {
            let idle = places.filter { $0.value.origin.isIdle }
            guard let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt }) else { return nil }
            places[oldest.key] = nil
        }
        let made = make()
        places[host] = Place(origin: made, usedAt: uses)
        return made
    }
}

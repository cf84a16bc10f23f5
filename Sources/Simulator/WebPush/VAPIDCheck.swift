import Crypto
import FoundationEssentials

/// Holds the header `Authorization` to RFC 8292, and to what Mozilla and Apple add.
struct VAPIDCheck: Sendable {
    enum Refusal: String, Error {
        case missing, scheme
        case tokenMissing = "t_missing"
        case keyMissing = "k_missing"
        case keyLength = "k_length"
        case keyPoint = "k_point"
        case algorithm = "alg"
        case signature
        case audience = "aud"
        case expiryMissing = "exp_missing"
        case expiryType = "exp_type"
        case expired
        case expiryTooFar = "exp_too_far"
        case contact = "sub"
        /// Not the key that the subscription was made for.
        case otherKey = "other_key"
    }

    /// A token whose signature was verified; what depends on time and place is looked at for each request.
    struct Token: Sendable {
        let audience: String?
        let expiry: Int64
        let contact: String?
        /// The first 11 characters of the digest of the public key.
        let key: String
    }

    private static let limit = 256
    private static let dayInSeconds: Int64 = 86_400

    /// Verifying costs as much as the rest of a request; senders use a token for hours.
    private var known: [[UInt8]: Token] = [:]

    /// - Parameters:
    ///   - origin: what `aud` must be.
    ///   - now: seconds since 1970.
    mutating func check(
        _ authorization: [UInt8]?, for path: PushPath, origin: String, now: Int64
    ) throws(Refusal) {
        guard let authorization, !authorization.isEmpty else { throw .missing }
        let token: Token
        if let seen = known[authorization] {
            token = seen
        } else {
            token = try Self.verify(String(decoding: authorization, as: UTF8.self))
            if known.count >= Self.limit { known.removeAll() }
            known[authorization] = token
        }
        guard token.audience == origin else { throw .audience }
        guard token.expiry > now else { throw .expired }
        guard token.expiry <= now + Self.dayInSeconds else { throw .expiryTooFar }
        try Self.check(contact: token.contact, path.manners)
        if let key = path.key, key != token.key { throw .otherKey }
    }

    /// How a subscription's endpoint names a key.
    static func fingerprint(_ publicKey: [UInt8]) -> String {
        String(Base64URL.encode(SHA256.hash(data: publicKey)).prefix(11))
    }

    private static func check(contact: String?, _ manners: PushPath.Manners?) throws(Refusal) {
        guard let contact else {
            // Optional in the RFC; these two want it.
            if manners == .mozilla || manners == .apple { throw .contact }
            return
        }
        let isURI = contact.hasPrefix("mailto:") || contact.hasPrefix("https://")
        guard isURI, !contact.contains(where: \.isWhitespace) else { throw .contact }
        if manners == .apple {
            let host = contact.split { "/@:".contains($0) }.last ?? ""
            let last = host.split(separator: ".").last ?? ""
            if ["localhost", "invalid"].contains(last) { throw .contact }
        }
    }

    private static func verify(_ text: String) throws(Refusal) -> Token {
        let (parameters, scheme) = parameters(text)
        guard scheme == "vapid" else { throw .scheme }
        guard let token = parameters["t"] else { throw .tokenMissing }
        guard let encodedKey = parameters["k"] else { throw .keyMissing }
        guard let point = Base64URL.decode(encodedKey), point.count == 65, point.first == 4 else { throw .keyLength }
        guard let key = try? P256.Signing.PublicKey(x963Representation: point) else { throw .keyPoint }
        guard let parsed = try? JSONWebToken(parsing: token) else { throw .signature }
        guard parsed.header.alg == "ES256" else { throw .algorithm }
        do { try parsed.verify(using: key) } catch { throw .signature }
        let claims: Claims
        do { claims = try parsed.claims(as: Claims.self) } catch { throw .expiryType }
        guard let expiry = claims.exp else { throw .expiryMissing }
        return Token(audience: claims.aud, expiry: expiry, contact: claims.sub, key: fingerprint(point))
    }

    private struct Claims: Decodable {
        let aud: String?
        let exp: Int64?
        let sub: String?
    }

    /// `vapid t=…, k=…` in any order; unknown parameters are skipped.
    private static func parameters(_ text: String) -> (values: [String: String], scheme: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return ([:], text.lowercased()) }
        var values: [String: String] = [:]
        for parameter in parts[1].split(separator: ",") {
            let sides = parameter.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { values[String(sides[0])] = String(sides[1]) }
        }
        return (values, parts[0].lowercased())
    }
}

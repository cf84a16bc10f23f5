import Crypto
import Domain
import Logging
import PlainHTTP

/// Trades a signed assertion for an access token (Google's server-to-server protocol, RFC 7523 §2.1).
struct OAuthExchange: Sendable {
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    private static let lifetimeSeconds: Int64 = 3600
    /// How far the assertion is dated back, so that a clock of Google's that is a little behind accepts it.
    private static let slackSeconds: Int64 = 30

    private struct Claims: Encodable {
        var iss: String
        var scope: String
        var aud: String
        var iat: Int64
        var exp: Int64
    }

    let client: HTTPClient
    let logger: Logger

    /// - Parameter now: the database's.
    static func assertion(for account: ServiceAccount, now: Instant) throws -> String {
        let issuedAt = now.seconds - slackSeconds
        let claims = Claims(
            iss: account.clientEmail, scope: scope, aud: account.tokenURI, iat: issuedAt,
            exp: issuedAt + lifetimeSeconds)
        return try JSONWebToken.sign(claims, keyID: account.privateKeyID, using: account.privateKey)
    }

    /// The body of the exchange. An assertion holds no character that a form would encode.
    static func form(assertion: String) -> [UInt8] {
        Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8)
    }

    /// - Throws: `HTTPClientError` when no answer came.
    func token(for account: ServiceAccount, now: Instant) async throws -> OAuthAnswer {
        var request = HTTPClientRequest(url: account.tokenURI)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.body = Self.form(assertion: try Self.assertion(for: account, now: now))
        let response = try await client.execute(request, timeout: .seconds(20), logger: logger)
        return OAuthAnswer(response, now: now.seconds)
    }
}

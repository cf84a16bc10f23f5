import Crypto

/// A request for an access token (RFC 7523 §2.1), checked as Google does (fcm.md §2).
enum TokenRequest {
    struct Refusal: Error, Equatable {
        let status: Int
        let error: String
        let description: String

        static func grant(_ description: String) -> Refusal {
            Refusal(status: 400, error: "invalid_grant", description: description)
        }
        static func request(_ description: String) -> Refusal {
            Refusal(status: 400, error: "invalid_request", description: description)
        }
    }

    private struct Claims: Decodable {
        let iss: String
        let aud: String
        let scope: String?
        let iat: Double
        let exp: Double
    }

    static let scopes: Set<Substring> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// What clocks may differ by, in seconds.
    private static let skew = 60.0
    private static let lifetime = 3600.0

    /// - Parameter now: wall clock, seconds since 1970.
    /// - Returns: the account that may have a token.
    static func check(
        _ request: ProviderRequest, accounts: [String: ServiceAccount], audience: String, now: Double
    ) throws(Refusal) -> ServiceAccount {
        guard request.method == "POST" else { throw .request("Only POST is allowed.") }
        guard request.hasContent(ProviderRequest.form) else {
            throw .request("The content type is not application/x-www-form-urlencoded.")
        }
        guard let form = Form.parse(request.body) else { throw .request("Malformed form, or a field twice.") }
        guard let grant = form["grant_type"] else { throw .request("Missing required parameter: grant_type") }
        guard grant == grantType else {
            throw Refusal(status: 400, error: "unsupported_grant_type", description: "Invalid grant_type.")
        }
        guard let assertion = form["assertion"], !assertion.isEmpty else {
            throw .request("Missing required parameter: assertion")
        }
        return try check(assertion, accounts, audience, now)
    }

    private static func check(
        _ assertion: String, _ accounts: [String: ServiceAccount], _ audience: String, _ now: Double
    ) throws(Refusal) -> ServiceAccount {
        let token: JSONWebToken
        let claims: Claims
        do {
            token = try JSONWebToken(parsing: assertion)
            claims = try token.claims(as: Claims.self)
        } catch {
            throw .grant("Invalid JWT: not three parts with the required claims.")
        }
        guard let account = accounts[claims.iss] else { throw .grant("Invalid grant: account not found") }
        guard token.header.typ == nil || token.header.typ == "JWT" else { throw .grant("Invalid JWT: typ.") }
        let isSigned = account.candidates(token.header.kid).contains { key in
            do { try token.verify(using: key) } catch { return false }
            return true
        }
        guard isSigned else { throw .grant("Invalid JWT Signature.") }
        guard claims.aud == audience else { throw .grant("Invalid JWT: Failed audience check.") }
        try checkTimes(claims, now)
        let asked = (claims.scope ?? "").split(separator: " ")
        guard asked.contains(where: scopes.contains) else {
            throw Refusal(
                status: 400, error: "invalid_scope", description: "Invalid OAuth scope or ID token audience provided.")
        }
        return account
    }

    private static func checkTimes(_ claims: Claims, _ now: Double) throws(Refusal) {
        guard claims.iat == claims.iat.rounded(), claims.exp == claims.exp.rounded() else {
            throw .grant("Invalid JWT: iat and exp are whole seconds.")
        }
        guard claims.exp > claims.iat, claims.exp - claims.iat <= lifetime, claims.iat <= now + skew,
            claims.exp > now - skew
        else {
            throw .grant(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
                    + "Check your iat and exp values in the JWT claim.")
        }
    }
}

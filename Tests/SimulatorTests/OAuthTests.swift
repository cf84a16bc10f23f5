import Crypto
import HTTP2
import Testing

@testable import Simulator

@Suite struct OAuthTests {
    private struct Claims: Encodable {
        var iss = "pushfleet@demo.iam.gserviceaccount.com"
        var aud = Scenario.audience
        var scope = "https://www.googleapis.com/auth/firebase.messaging"
        var iat = 1_774_000_000
        var exp = 1_774_003_600
    }

    private static let now = 1_774_000_000.0
    private static let otherKey = Result { try RSA.Signing.PrivateKey() }
    private let account: ServiceAccount
    private let key: RSA.Signing.PrivateKey

    init() throws {
        let file = try Scenario.keyFile.get()
        account = try ServiceAccount(file)
        key = try RSA.Signing.PrivateKey(pemRepresentation: file.privateKey)
    }

    private func assertion(
        _ change: (inout Claims) -> Void = { _ in }, key: RSA.Signing.PrivateKey? = nil, keyID: String? = nil
    ) throws -> String {
        var claims = Claims()
        change(&claims)
        return try JSONWebToken.sign(claims, keyID: keyID ?? account.keyID, using: key ?? self.key)
    }

    private func ask(
        _ body: String, contentType: String = "application/x-www-form-urlencoded", _ scenario: Scenario? = nil
    ) throws -> HTTP2ServerAction {
        let scenario = try scenario ?? Scenario()
        scenario.state.accounts = [account.email: account]
        let request = ProviderRequest(
            method: "POST", path: "/token", contentType: Array(contentType.utf8), body: Array(body.utf8))
        return TokenEndpoint(audience: Scenario.audience)
            .answer(request, at: scenario.clock, wallClock: Self.now, &scenario.state)
    }

    private static let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="

    @Test func `a good assertion buys a token that sends`() throws {
        let scenario = try Scenario(tokenLifetime: 100)
        let answer = try ask(Self.grant + assertion(), scenario)
        #expect(answer.response?.status == 200)
        #expect(answer.json?["expires_in"]?.number == 100)
        #expect(answer.json?["token_type"]?.text == "Bearer")
        let token = try #require(answer.json?["access_token"]?.text)
        let bearer = Array("Bearer \(token)".utf8)
        #expect(scenario.send(Scenario.message("t"), bearer: bearer).response?.status == 200)
        let late = scenario.send(Scenario.message("t"), bearer: bearer, after: .seconds(101))
        #expect(late.response?.status == 401)
        #expect(late.fcmCode == nil, "an expired access token is no fault of APNs or a token")
        #expect(scenario.state.tokens.issued == 2)
    }

    @Test(arguments: [-60, 0, 60])
    func `clocks may differ by a minute`(skew: Int) throws {
        let assertion = try assertion {
            $0.iat += skew
            $0.exp += skew
        }
        #expect(try ask(Self.grant + assertion).response?.status == 200)
    }

    private static let refusals: [(String, @Sendable (inout Claims) -> Void, Int, String, String)] = [
        (
            "unknown account", { $0.iss = "nobody@demo.iam.gserviceaccount.com" }, 400, "invalid_grant",
            "account not found"
        ),
        ("other audience", { $0.aud = "https://oauth2.googleapis.com/token" }, 400, "invalid_grant", "audience"),
        ("other scope", { $0.scope = "https://www.googleapis.com/auth/drive" }, 400, "invalid_scope", "scope"),
        ("too long", { $0.exp += 1 }, 400, "invalid_grant", "short-lived"),
        (
            "from the future",
            {
                $0.iat += 61; $0.exp += 61
            }, 400, "invalid_grant", "timeframe"
        ),
        (
            "over",
            {
                $0.iat -= 3660; $0.exp -= 3660
            }, 400, "invalid_grant", "timeframe"
        ),
        ("ends before it begins", { $0.exp = $0.iat }, 400, "invalid_grant", "timeframe"),
    ]

    @Test(arguments: refusals.indices)
    func `bad claims are refused`(index: Int) throws {
        let (name, change, status, error, word) = Self.refusals[index]
        let answer = try ask(Self.grant + assertion(change))
        #expect(answer.response?.status == status, "\(name)")
        #expect(answer.json?["error"]?.text == error, "\(name)")
        #expect(answer.json?["error_description"]?.text?.contains(word) == true, "\(name)")
    }

    @Test func `a signature by another key is refused`() throws {
        let answer = try ask(Self.grant + assertion(key: Self.otherKey.get()))
        #expect(answer.json?["error"]?.text == "invalid_grant")
        #expect(answer.json?["error_description"]?.text == "Invalid JWT Signature.")
        #expect(try ask(Self.grant + assertion(keyID: "revoked")).json?["error"]?.text == "invalid_grant")
    }

    @Test(arguments: [
        ("", "invalid_request"), ("assertion=x", "invalid_request"),
        ("grant_type=password&assertion=x", "unsupported_grant_type"),
        (grant, "invalid_request"), (grant + "a.b", "invalid_grant"), (grant + "a.b.c", "invalid_grant"),
        (grant + "x&assertion=y", "invalid_request"), (grant + "%zz", "invalid_request"),
    ])
    func `bad forms are refused`(body: String, error: String) throws {
        let answer = try ask(body)
        #expect(answer.response?.status == 400)
        #expect(answer.json?["error"]?.text == error)
    }

    @Test func `only a form is taken`() throws {
        let answer = try ask(Self.grant + assertion(), contentType: "application/json")
        #expect(answer.json?["error"]?.text == "invalid_request")
    }

    @Test(arguments: OAuthFaults.Fault.allCases)
    func `each fault answers as Google does`(fault: OAuthFaults.Fault) throws {
        let scenario = try Scenario(faults: "oauth-\(fault.rawValue)=100%")
        let answer = try ask(Self.grant + assertion(), scenario)
        switch fault {
        case .stall: #expect(answer.response == nil)
        case .noToken: #expect(answer.response?.status == 200 && answer.json?["access_token"] == nil)
        case .invalidClient: #expect(answer.response?.status == 401 && answer.json?["error"]?.text == fault.rawValue)
        case .status408, .status429, .status500, .status502, .status503, .status504:
            #expect(answer.response.map { String($0.status) } == fault.rawValue)
        case .internalFailure, .serverError, .temporarilyUnavailable, .invalidGrant, .invalidScope:
            #expect(answer.response?.status == 400 && answer.json?["error"]?.text == fault.rawValue)
        }
        #expect(scenario.state.tokens.issued == 1, "only the scenario's own")
    }
}

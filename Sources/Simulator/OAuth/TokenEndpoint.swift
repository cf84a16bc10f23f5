import HTTP2

/// `POST /token`: a signed assertion for an access token.
struct TokenEndpoint: Sendable {
    /// The URL of this endpoint, which assertions must name exactly.
    let audience: String

    /// - Parameter wallClock: seconds since 1970.
    func answer(
        _ request: ProviderRequest, at now: ContinuousClock.Instant, wallClock: Double, _ state: inout SimulatorState
    ) -> HTTP2ServerAction {
        defer { state.counts.oauthRequests += 1 }
        if let fault = state.faults.oauth.draw(number: state.counts.oauthRequests) {
            state.counts.countOAuth(refusal: fault.rawValue)
            return fail(fault)
        }
        do throws(TokenRequest.Refusal) {
            let account = try TokenRequest.check(request, accounts: state.accounts, audience: audience, now: wallClock)
            return .respond(try grant(account, at: now, &state))
        } catch {
            state.counts.countOAuth(refusal: error.error)
            return .respond(Self.refusal(error))
        }
    }

    private func grant(
        _ account: ServiceAccount, at now: ContinuousClock.Instant, _ state: inout SimulatorState
    ) throws(TokenRequest.Refusal) -> HTTP2ServerResponse {
        let token: String
        do { token = try state.tokens.issue(for: account.project, at: now) } catch {
            throw TokenRequest.Refusal(status: 500, error: "server_error", description: "No token can be drawn.")
        }
        let lifetime = state.tokens.lifetime
        return .json(200, #"{"access_token":"\#(token)","expires_in":\#(lifetime),"token_type":"Bearer"}"#)
    }

    private static func refusal(_ refusal: TokenRequest.Refusal) -> HTTP2ServerResponse {
        let description = JSONWriter.quoted(refusal.description)
        return .json(refusal.status, #"{"error":"\#(refusal.error)","error_description":\#(description)}"#)
    }

    private func fail(_ fault: OAuthFaults.Fault) -> HTTP2ServerAction {
        switch fault {
        case .stall: .stall
        case .noToken: .respond(.json(200, #"{"token_type":"Bearer","expires_in":3599}"#))
        case .status502: .respond(.html(502, "Error 502 (Server Error)!!1"))
        case .status408, .status429, .status500, .status503, .status504:
            .respond(.json(Int(fault.rawValue) ?? 500, [UInt8]()))
        case .internalFailure, .serverError, .temporarilyUnavailable:
            .respond(.json(400, #"{"error":"\#(fault.rawValue)"}"#))
        case .invalidGrant: .respond(Self.refusal(.grant("Invalid JWT Signature.")))
        case .invalidScope:
            .respond(Self.refusal(.init(status: 400, error: fault.rawValue, description: "Invalid OAuth scope.")))
        case .invalidClient:
            .respond(
                Self.refusal(.init(status: 401, error: fault.rawValue, description: "The OAuth client was not found.")))
        }
    }
}

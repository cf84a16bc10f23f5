import Domain
import FoundationEssentials
import PlainHTTP

/// What Google's token endpoint answered (fcm.md §2).
enum OAuthAnswer: Sendable {
    /// `lifetime` is what the endpoint said, an hour as a rule.
    case token(AccessToken, lifetime: Duration)
    /// `.retry`, `.slowDown`: again later, the old token stays in use. `.credential`, `.config`: no repeat helps until a
    /// person changes the key, the account or the host's clock. `word` is OAuth's, for the log.
    case failed(Answer, word: String?)
}

/// A secret. Printing it shows nothing.
struct AccessToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let text: String

    var description: String { "access token" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension OAuthAnswer {
    /// - Parameter now: seconds since 1970, for a `Retry-After` that is a date.
    init(_ response: HTTPClientResponse, now: Int64) {
        let body = try? JSONDecoder().decode(Body.self, from: Data(response.body))
        if response.status == 200 {
            guard let body, let text = body.accessToken, Self.isToken(text), let seconds = body.expiresIn else {
                self = .failed(.retry(.fcmAccessTokenRefused, after: nil), word: nil)
                return
            }
            self = .token(AccessToken(text: text), lifetime: .seconds(seconds))
            return
        }
        let wait = response.headers.first(name: "retry-after").flatMap {
            ProviderDelay.parse(retryAfter: $0, date: response.headers.first(name: "date"), now: now)
        }
        self = .failed(Self.classify(response.status, word: body?.error, wait), word: body?.error)
    }

    /// The word outweighs the status: three of them come with a 400 and mean a fault at Google.
    private static func classify(_ status: Int, word: String?, _ wait: Duration?) -> Answer {
        switch (status, word) {
        case (_, "internal_failure"), (_, "server_error"), (_, "temporarily_unavailable"):
            .retry(.fcmAccessTokenRefused, after: wait)
        case (429, _): .slowDown(.fcmAccessTokenRefused, after: wait)
        case (408, _), (500..., _): .retry(.fcmAccessTokenRefused, after: wait)
        case (_, "invalid_scope"), (..<400, _), (404, _), (405, _), (407, _): .config(.fcmAccessTokenRefused)
        default: .credential(.fcmAccessTokenRefused)
        }
    }

    /// It goes into a header: visible ASCII only (RFC 6750 §2.1).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private struct Body: Decodable {
        var accessToken: String?
        var expiresIn: Int?
        var error: String?

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case expiresIn = "expires_in"
            case error
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            accessToken = try? container.decode(String.self, forKey: .accessToken)
            let number = try? container.decode(Int.self, forKey: .expiresIn)
            let text = try? container.decode(String.self, forKey: .expiresIn)
            // More than a year is no lifetime of an access token.
            expiresIn = (number ?? text.flatMap { Int($0) }).flatMap { (1...31_536_000).contains($0) ? $0 : nil }
            error = try? container.decode(String.self, forKey: .error)
        }
    }
}

import Domain
import HTTP2
import Logging
import PlainHTTP

/// A credential's file, used as sending uses it but for the network: it was read, and a token was signed with its key.
package struct CredentialProbe: Sendable {
    /// For a person: what the credential does.
    package let summary: String
    /// Whose it is: the project, the team's key, or the public key.
    package let identity: String
    /// Where sending with it connects to, as `https://host` or with a port.
    package let origins: [String]

    /// - Parameters:
    ///   - endpoint: in place of Google's.
    ///   - now: the database's.
    /// - Throws: `KeyFileProblems`, or `CryptoError` when the key does not sign.
    package static func fcm(path: String, endpoint: String?, now: Instant) throws -> CredentialProbe {
        let account = try KeyFileReading(path: path).account
        _ = try OAuthExchange.assertion(for: account, now: now)
        return CredentialProbe(
            summary: "key \(account.privateKeyID.prefix(8))… of project \(account.projectID) signs",
            identity: account.projectID,
            origins: [origin(of: endpoint ?? FCMConfiguration().endpoint), origin(of: account.tokenURI)])
    }

    /// Why there is no access token.
    package enum TokenFault: Sendable {
        /// Google is busy or failed.
        case mayPass(String)
        /// In OAuth's word, and what a person can do about it.
        case refused(String, Reason)
    }

    /// Asks Google for an access token as sending does, and drops it.
    /// - Throws: `KeyFileProblems`; `HTTPClientError` when no answer came.
    package static func fcmToken(
        path: String, through client: HTTPClient, now: Instant, logger: Logger
    ) async throws -> TokenFault? {
        let account = try KeyFileReading(path: path).account
        switch try await OAuthExchange(client: client, logger: logger).token(for: account, now: now) {
        case .token: return nil
        case .failed(let answer, let word):
            switch answer {
            case .credential(let reason), .config(let reason): return .refused(word ?? reason.name, reason)
            default: return .mayPass(word ?? "no reason given")
            }
        }
    }

    /// - Parameters as for FCM, with Apple's hosts.
    package static func apns(path: String, endpoint: String?, now: Instant) throws -> CredentialProbe {
        let key = try APNsKeyReading(path: path).key
        _ = try APNsTokenSource.token(of: key, at: now)
        var configuration = APNsConfiguration()
        configuration.endpoint = endpoint
        let environments: [PushEnvironment] =
            switch key.scope.rawValue {
            case "production": [.production]
            case "sandbox": [.sandbox]
            default: [.production, .sandbox]
            }
        return CredentialProbe(
            summary: "key \(key.keyID) of team \(key.teamID) signs for \(key.topic)", identity: key.keyID,
            origins: try environments.map { environment in
                let origin = try configuration.origin(environment, key)
                return origin.port == 443 ? "https://\(origin.host)" : "https://\(origin.host):\(origin.port)"
            })
    }

    /// Browsers' own push services; Microsoft's hosts are many, and each subscription names its own.
    private static let pushServices = [
        "https://fcm.googleapis.com", "https://updates.push.services.mozilla.com", "https://web.push.apple.com",
    ]

    /// - Throws: `VAPIDKeyInvalid`, or `CryptoError` when the key does not sign.
    package static func webPush(path: String, contact: String, now: Instant) throws -> CredentialProbe {
        let key = try VAPIDKey(path: path, contact: contact)
        _ = try VAPIDToken(for: pushServices[0], key: key, now: now.seconds)
        return CredentialProbe(
            summary: "VAPID key \(key.publicKey.prefix(8))… signs for \(contact)", identity: key.publicKey,
            origins: pushServices)
    }

    /// Scheme, host and port.
    private static func origin(of url: String) -> String {
        let scheme = "https://"
        guard url.hasPrefix(scheme) else { return url }
        return scheme + url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
    }
}

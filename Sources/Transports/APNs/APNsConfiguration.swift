import Domain
import HTTP2

/// How APNs is reached. The defaults are Apple's hosts and advice.
package struct APNsConfiguration: Sendable {
    static let production = "https://api.push.apple.com"
    static let sandbox = "https://api.sandbox.push.apple.com"

    /// Scheme, host and port in place of both hosts; what the credential file says of one of them goes before.
    package var endpoint: String?
    /// A file of PEM certificates to trust instead of the system's.
    package var trustFile: String?
    /// From begun to answered.
    package var requestDeadline = Duration.seconds(15)
    /// For each environment.
    package var maximumConnections = 4
    /// Most requests in flight on one connection; the server may allow fewer, and allows one until it has seen a token.
    package var streamsPerConnection = 500
    var tokens = APNsConfiguration.renewal

    package init() {}

    /// 45 minutes, give or take five, of what is left of an hour once the token is dated back.
    private static var renewal: AccessTokens.Configuration {
        var tokens = AccessTokens.Configuration()
        tokens.refreshShare = 45.0 * 60 / 3570
        tokens.jitterShare = 5.0 * 60 / 3570
        return tokens
    }
}

/// An endpoint is not `https://host` or `https://host:port`.
package struct APNsEndpointInvalid: Error, Sendable, CustomStringConvertible {
    package var description: String { "the APNs endpoint must be https://host or https://host:port" }
}

extension APNsConfiguration {
    func origin(_ environment: PushEnvironment, _ key: APNsKey) throws -> HTTP2Origin {
        let chosen =
            switch environment {
            case .sandbox: key.sandboxEndpoint ?? endpoint ?? Self.sandbox
            case .production, .unknown: key.productionEndpoint ?? endpoint ?? Self.production
            }
        guard let origin = HTTP2Origin(endpoint: chosen) else { throw APNsEndpointInvalid() }
        return origin
    }

    /// Connections are kept for hours; Apple takes quick reconnecting for an attack.
    var http2: HTTP2ClientConfiguration {
        HTTP2ClientConfiguration(
            trust: trustFile.map { .file($0) } ?? .system, maxConnections: maximumConnections,
            streamsPerConnection: streamsPerConnection, reconnectDelay: .seconds(1), idleTimeout: .seconds(86_400),
            retainedFields: ["apns-id", "retry-after", "date"])
    }
}

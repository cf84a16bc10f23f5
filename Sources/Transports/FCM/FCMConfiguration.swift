import HTTP2
import PlainHTTP

/// How FCM is reached. The defaults are Google's endpoints and advice.
package struct FCMConfiguration: Sendable {
    /// Scheme, host and port; requests go to `/v1/projects/{project}/messages:send` there.
    package var endpoint = "https://fcm.googleapis.com"
    /// A file of PEM certificates to trust instead of the system's, for FCM and the token endpoint.
    package var trustFile: String?
    /// From begun to answered; Google asks for 10 s at least (fcm.md §8.3).
    package var requestDeadline = Duration.seconds(15)
    package var maximumConnections = 4
    /// Most requests in flight on one connection; the server may allow fewer.
    package var streamsPerConnection = 100
    /// FCM checks each message as it does a real one, and delivers nothing.
    package var validateOnly = false
    var tokens = AccessTokens.Configuration()

    package init() {}
}

/// The endpoint is not `https://host` or `https://host:port`.
package struct FCMEndpointInvalid: Error, Sendable, CustomStringConvertible {
    package var description: String { "the FCM endpoint must be https://host or https://host:port" }
}

extension FCMConfiguration {
    func origin() throws -> HTTP2Origin {
        guard let origin = HTTP2Origin(endpoint: endpoint) else { throw FCMEndpointInvalid() }
        return origin
    }

    var http2: HTTP2ClientConfiguration {
        HTTP2ClientConfiguration(
            trust: trustFile.map { .file($0) } ?? .system, maxConnections: maximumConnections,
            streamsPerConnection: streamsPerConnection, retainedFields: ["retry-after", "date"])
    }

    var plain: HTTPClient.Configuration {
        var plain = HTTPClient.Configuration()
        plain.trustFile = trustFile
        plain.maximumBodyBytes = 64 * 1024
        return plain
    }
}

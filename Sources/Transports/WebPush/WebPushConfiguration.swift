import Domain
import HTTP2

/// How an app's Web Push looks; it may change with the credential.
package struct WebPushOptions: Sendable, Equatable {
    /// Also readable by browsers that show a push without a service worker.
    package var isDeclarative = false
    /// Hides the length of a message in steps of 256 bytes.
    package var isPadded = false
    /// Without a collapse key, the thread is the tag: a notification replaces the one before it in its thread.
    package var tagsByThread = false

    package init() {}
}

/// How push services are reached. Their addresses come from clients: hostile input.
package struct WebPushConfiguration: Sendable {
    package var options = WebPushOptions()
    /// Which endpoints may be sent to: looked at when they are registered, and again each time.
    package var endpoints = EndpointPolicy()
    /// Beside public addresses, those of these networks are connected to.
    package var privateNetworks: [AddressRange] = []
    /// A file of PEM certificates to trust instead of the system's.
    package var trustFile: String?
    /// From begun to answered.
    package var requestDeadline = Duration.seconds(15)
    /// To each host.
    package var maximumConnections = 4
    package var streamsPerConnection = 100
    /// Hosts that connections are kept to at once; the one that was used longest ago makes room.
    package var maximumOrigins = 64

    package init() {}

    var http2: HTTP2ClientConfiguration {
        HTTP2ClientConfiguration(
            trust: trustFile.map { .file($0) } ?? .system, addresses: .publicOnly(besides: privateNetworks),
            maxConnections: maximumConnections, streamsPerConnection: streamsPerConnection,
            retainedFields: ["retry-after", "date", "location", "x-wns-status", "x-wns-error-description"],
            maxBody: 4096)
    }
}

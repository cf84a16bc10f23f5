/// How a client behaves towards its origin.
package struct HTTP2ClientConfiguration: Sendable {
    /// Which addresses a client may connect to, looked at after the name was resolved.
    package enum Addresses: Sendable {
        case any
        /// Only those of the public Internet, and of the networks that are named: for origins that strangers name.
        case publicOnly(besides: [AddressRange] = [])
    }

    package var trust: TLSTrust
    package var addresses: Addresses
    /// At most so many are used at once; opened as demand needs them.
    package var maxConnections: Int
    /// Requests in flight on one connection, where the server does not allow fewer.
    package var streamsPerConnection: Int
    /// From looking up the name to the server's SETTINGS.
    package var connectTimeout: Duration
    /// The next address is tried after so long, while the one before is still at it (RFC 8305 §5).
    package var nextAddressDelay: Duration
    /// Waiting time after the first failed connection; doubles with each one up to the maximum, less a random part of up
    /// to a half.
    package var reconnectDelay: Duration
    package var maxReconnectDelay: Duration
    /// A connection without requests is closed after so long.
    package var idleTimeout: Duration
    /// A connection that was silent for so long must answer a PING before it gets a request. Not below 60 s, since
    /// servers end connections that ping too often.
    package var silenceBeforePing: Duration
    /// Header fields of responses to keep, in lower case; all others are dropped.
    package var retainedFields: [String]
    /// Bodies of responses are cut here; in bytes.
    package var maxBody: Int

    package init(
        trust: TLSTrust = .system, addresses: Addresses = .any, maxConnections: Int = 2,
        streamsPerConnection: Int = 100, connectTimeout: Duration = .seconds(10),
        nextAddressDelay: Duration = .milliseconds(250), reconnectDelay: Duration = .milliseconds(500),
        maxReconnectDelay: Duration = .seconds(60), idleTimeout: Duration = .seconds(600),
        silenceBeforePing: Duration = .seconds(60), retainedFields: [String] = ["retry-after"],
        maxBody: Int = 16_384
    ) {
        self.trust = trust
        self.addresses = addresses
        self.maxConnections = max(1, maxConnections)
        self.streamsPerConnection = max(1, streamsPerConnection)
        self.connectTimeout = connectTimeout
        self.nextAddressDelay = nextAddressDelay
        self.reconnectDelay = reconnectDelay
        self.maxReconnectDelay = maxReconnectDelay
        self.idleTimeout = idleTimeout
        self.silenceBeforePing = max(silenceBeforePing, .seconds(60))
        self.retainedFields = retainedFields
        self.maxBody = maxBody
    }
}

/// How a server is set up. The defaults suit tests on one machine.
package struct HTTP2ServerConfiguration: Sendable {
    /// An address of this machine to listen on, in text.
    package var host: String
    /// 0 takes any free one; see `HTTP2Server.port`.
    package var port: UInt16
    /// PEM: the certificate, then those that lead to its authority.
    package var certificateFile: String
    /// PEM, unencrypted.
    package var keyFile: String
    /// SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113 §6.5.2). `HTTP2Server.setMaxConcurrentStreams` changes it later.
    package var maxConcurrentStreams: UInt32
    /// Flow-control window of each stream and, 64 times as large, of the connection; in bytes.
    package var initialWindow: UInt32
    /// Bodies are cut here; in bytes.
    package var maxBody: Int
    /// Holds back the server's SETTINGS, and everything that would follow them, for so long after the handshake.
    package var settingsDelay: Duration
    /// Without it, the TLS handshake succeeds and chooses no protocol, as servers of HTTP/1.1 do.
    package var offersHTTP2: Bool
    /// What its GOAWAY frames carry (RFC 9113 §6.8).
    package var goAwayDebugData: [UInt8]

    package init(
        host: String = "127.0.0.1", port: UInt16 = 0, certificateFile: String, keyFile: String,
        maxConcurrentStreams: UInt32 = 100, initialWindow: UInt32 = 1 << 20, maxBody: Int = 1 << 20,
        settingsDelay: Duration = .zero, offersHTTP2: Bool = true, goAwayDebugData: [UInt8] = []
    ) {
        self.host = host
        self.port = port
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.maxConcurrentStreams = maxConcurrentStreams
        self.initialWindow = initialWindow
        self.maxBody = maxBody
        self.settingsDelay = settingsDelay
        self.offersHTTP2 = offersHTTP2
        self.goAwayDebugData = goAwayDebugData
    }
}

import Domain

/// Finds the transport that serves a route. The executable builds them; tests script them.
package protocol TransportDirectory: Sendable {
    /// - Throws: `TransportUnavailable` when the route's credential cannot be used here.
    func transport(for route: Route) async throws -> any Transport
    /// Half a SHA-256 of the credential's file as it is on this machine now; empty = it cannot be read.
    func fingerprint(of credential: CredentialReference) async -> [UInt8]
    /// The same of the file that its transport was made from; nil = there is none.
    func usedFingerprint(of credential: CredentialReference) async -> [UInt8]?
    /// Ends all of them.
    func close(by deadline: ContinuousClock.Instant) async
}

/// A route's credential cannot be used: its file is missing, unreadable or malformed.
package struct TransportUnavailable: Error, Sendable, CustomStringConvertible {
    package let reason: Reason
    /// Names the field and the remedy, never the secret.
    package let description: String
    package init(reason: Reason, description: String) {
        self.reason = reason
        self.description = description
    }
}

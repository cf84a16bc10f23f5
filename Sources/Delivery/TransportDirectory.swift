import Domain

/// Finds the transport that serves a route. The executable builds them; tests script them.
package protocol TransportDirectory: Sendable {
    /// - Throws: `TransportUnavailable` when the route's credential cannot be used here.
    func transport(for route: Route) async throws -> any Transport
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

/// A client's state, as of the last turn of its loop.
package struct HTTP2ClientStatistics: Sendable {
    /// Requests that can be in flight at once.
    package internal(set) var capacity = 0
    package internal(set) var inFlight = 0
    /// Submitted, not begun.
    package internal(set) var queued = 0
    /// Those that may get requests.
    package internal(set) var openConnections = 0
    /// Those that are not ready for requests yet, from the handshake on.
    package internal(set) var connectingConnections = 0
    /// Those that get no more and wait for answers.
    package internal(set) var drainingConnections = 0
    /// Since the client was made: connections that were ready for requests, and attempts that did not get so far.
    package internal(set) var connectionsOpened = 0
    package internal(set) var connectionsFailed = 0
    /// When a request was answered last, whatever the status.
    package internal(set) var lastAnsweredAt: ContinuousClock.Instant?
}

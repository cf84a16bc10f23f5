/// What a provider's answer means, whichever provider gave it. One table per transport maps to it; nobody else knows
/// status codes.
package enum Answer: Equatable, Sendable {
    /// Accepted by the provider. Says nothing about the device.
    case delivered(messageID: String?)
    /// The address is dead as of `since` (provider's clock): retire it if it did not register after that.
    case unregistered(Reason, since: Instant?)
    /// This job, for good: too large, malformed, not allowed. The address is untouched.
    case refused(Reason)
    /// Another attempt, not before `after` when the provider named a delay (`Retry-After`).
    case retry(Reason, after: Duration?)
    /// As `retry`, and the route must send less.
    case slowDown(Reason, after: Duration?)
    /// Our key, token or permission: the credential pauses; job and address wait.
    case credential(Reason)
    /// The address belongs to another project or key.
    case wrongProject(Reason)
    /// Endpoint, method or protocol of ours: the job waits, health shows it.
    case config(Reason)

    /// nil when delivered.
    package var reason: Reason? {
        switch self {
        case .delivered: nil
        case .unregistered(let reason, _), .refused(let reason), .retry(let reason, _), .slowDown(let reason, _),
            .credential(let reason), .wrongProject(let reason), .config(let reason):
            reason
        }
    }
}

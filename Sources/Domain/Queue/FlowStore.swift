/// What keeps the fleet within its rates and off routes and credentials that do not work.
package protocol FlowStore: Sendable {
    /// Takes up to `wanted` slots for requests of a pair, of those that begin within `ahead` from now.
    func takeSlots(for pair: Pair, wanted: Int, ahead: Duration) async throws -> SlotGrant
    /// Lowers the coming seconds of a route for the whole fleet. Repeats within two seconds only prolong it: they were
    /// under way before it took effect.
    /// - Parameters:
    ///   - begun: requests that this worker begins in a second, for a route without a timetable.
    ///   - span: how long; after it the rate rises again step by step.
    func slow(_ route: Route.ID, begun: Int, for span: Duration) async throws
    /// Opens the breaker of a route.
    /// - Returns: how long until it is tried again; nil = it was closed, paused or open already.
    func trip(_ route: Route.ID, reason: Reason) async throws -> Duration?
    /// Ends the trial of a route that works; its rate rises step by step.
    func endTrial(of route: Route.ID) async throws
    /// Stops every route of a credential for the whole fleet and keeps why. The first fault stays; one of an earlier
    /// revision changes nothing.
    func pause(credential: Credential.ID, fault: CredentialFault) async throws
    func pausedCredentials() async throws -> [CredentialReference]
    /// Opens a credential again whose file changed. Nothing happens if somebody was quicker.
    func mend(_ credential: CredentialReference) async throws -> Bool
}

/// Why a credential cannot be used.
package struct CredentialFault: Equatable, Sendable {
    package var reason: Reason
    /// For people: the field and the remedy, never the secret.
    package var detail: String?
    /// Of the file that proved useless; empty = it is not there; nil = nobody knows.
    package var fingerprint: [UInt8]?
    /// The credential's when the file was read; nil = the present one.
    package var revision: Int32?

    package init(reason: Reason, detail: String? = nil, fingerprint: [UInt8]? = nil, revision: Int32? = nil) {
        self.reason = reason
        self.detail = detail
        self.fingerprint = fingerprint
        self.revision = revision
    }
}

extension FlowStore {
    package func pause(credential: Credential.ID, reason: Reason) async throws {
        try await pause(credential: credential, fault: CredentialFault(reason: reason))
    }
}

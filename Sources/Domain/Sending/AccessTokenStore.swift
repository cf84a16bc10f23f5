/// The provider tokens that the whole fleet shares: one row for each credential, refreshed by one worker at a time.
/// Every instant is the database's.
package protocol AccessTokenStore: Sendable {
    /// - Returns: nil when no worker has stored one yet.
    func sealedToken(credential: Credential.ID) async throws -> SealedToken?

    /// Asks to be the one that refreshes, for `span` from now; later it lapses by itself.
    /// - Parameter seen: `expiresAt` of the token to replace, as it was read; nil = there was none.
    /// - Returns: false while another worker is at it, or when the row no longer holds the token that was seen: read it
    ///   again then. True to the same worker again.
    func beginRefresh(
        credential: Credential.ID, by worker: WorkerID, for span: Duration, replacing seen: Instant?
    ) async throws -> Bool

    /// Puts a new token into the row and ends the refresh. Whatever token stood there is of no use any more.
    func store(_ token: SealedToken, credential: Credential.ID, by worker: WorkerID) async throws

    func now() async throws -> Instant
}

/// An access token as it lies in the database: sealed under a key derived from the credential itself, so that whoever
/// reads the row holds nothing of use.
package struct SealedToken: Sendable, Equatable {
    package var sealed: [UInt8]
    /// When the token was asked for: not after the provider issued it.
    package var issuedAt: Instant
    package var expiresAt: Instant

    package init(sealed: [UInt8], issuedAt: Instant, expiresAt: Instant) {
        self.sealed = sealed
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

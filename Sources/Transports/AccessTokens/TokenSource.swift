import Domain

/// Where the access tokens of one credential come from: its key file, and whoever issues a token for the key.
protocol TokenSource: TokenSealing {
    /// What requests name beside the token: the project, or the key's id.
    var owner: String { get }

    /// Reads the key file again.
    /// - Returns: whether it holds something new.
    /// - Throws: `KeyFileProblems`; what was read before stays.
    func reload() throws -> Bool

    /// - Parameter now: the database's.
    func issue(at now: Instant) async throws -> OAuthAnswer
}

import Domain

/// What may be known of a service account's key file: checked as sending checks it.
package struct FCMKeyFile: Sendable {
    package let projectID: String
    package let keyID: String

    /// - Throws: `KeyFileProblems`, all at once.
    package init(path: String) throws {
        let account = try KeyFileReading(path: path).account
        projectID = account.projectID
        keyID = account.privateKeyID
    }
}

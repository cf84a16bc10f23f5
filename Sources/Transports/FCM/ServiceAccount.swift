import Crypto
import Domain

/// A Google service account, which access tokens are asked for with (fcm.md §2). It can be printed: the key is kept out.
struct ServiceAccount: Sendable {
    let projectID: String
    let clientEmail: String
    let privateKeyID: String
    /// `https`; also the audience of the assertion.
    let tokenURI: String
    let privateKey: RSA.Signing.PrivateKey
    /// What access tokens are sealed under in the database: whoever lacks the key file cannot read them.
    let sealingKey: SymmetricKey
}

/// Everything that is wrong with a key file, at once. No value of the file is quoted.
package struct KeyFileProblems: Error, Sendable, CustomStringConvertible {
    package let problems: [Problem]

    static let unreadable = KeyFileProblems(problems: [
        Problem(
            pointer: "", code: "key_file_unreadable", message: "does not exist or cannot be read",
            remedy: "check the path and that this process may read it")
    ])

    package var description: String {
        "the key file cannot be used: "
            + problems.map { "\($0.pointer.isEmpty ? "file" : $0.pointer) \($0.message); \($0.remedy)" }
            .joined(separator: " | ")
    }
}

import Crypto
import FoundationEssentials

/// A service account of one project, and the key file that its owner downloads.
struct ServiceAccount: Sendable {
    /// Fields of the file, as Google names them (fcm.md §2).
    struct KeyFile: Codable, Sendable {
        var type = "service_account"
        let projectID: String
        let privateKeyID: String
        let privateKey: String
        let clientEmail: String
        var tokenURI: String

        enum CodingKeys: String, CodingKey {
            case type
            case projectID = "project_id"
            case privateKeyID = "private_key_id"
            case privateKey = "private_key"
            case clientEmail = "client_email"
            case tokenURI = "token_uri"
        }
    }

    let project: String
    let email: String
    let keyID: String
    let publicKey: RSA.Signing.PublicKey

    init(_ file: KeyFile) throws {
        project = file.projectID
        email = file.clientEmail
        keyID = file.privateKeyID
        publicKey = try RSA.Signing.PrivateKey(pemRepresentation: file.privateKey).publicKey
    }

    /// A new key for a project.
    static func make(project: String, tokenURI: String) throws -> KeyFile {
        let key = try RSA.Signing.PrivateKey()
        return KeyFile(
            projectID: project, privateKeyID: Base64URL.encode(try SecureRandom.bytes(20)),
            privateKey: try key.pemRepresentation, clientEmail: "pushfleet@\(project).iam.gserviceaccount.com",
            tokenURI: tokenURI)
    }
}

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
    /// Of the first key.
    let keyID: String
    let tokenURI: String
    /// Those that are alive, by their ids: an account may have several.
    private(set) var keys: [String: RSA.Signing.PublicKey]

    init(_ file: KeyFile) throws {
        project = file.projectID
        email = file.clientEmail
        keyID = file.privateKeyID
        tokenURI = file.tokenURI
        keys = [file.privateKeyID: try RSA.Signing.PrivateKey(pemRepresentation: file.privateKey).publicKey]
    }

    /// Another key beside those that there are, as its owner downloads it.
    mutating func addKey() throws -> KeyFile {
        let file = try Self.make(project: project, tokenURI: tokenURI)
        keys[file.privateKeyID] = try RSA.Signing.PrivateKey(pemRepresentation: file.privateKey).publicKey
        return file
    }

    /// - Returns: whether there was such a key.
    mutating func deleteKey(_ id: String) -> Bool { keys.removeValue(forKey: id) != nil }

    /// Those that may have signed.
    /// - Parameter id: as the signature names it; nil = it names none.
    func candidates(_ id: String?) -> [RSA.Signing.PublicKey] {
        guard let id else { return Array(keys.values) }
        return keys[id].map { [$0] } ?? []
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

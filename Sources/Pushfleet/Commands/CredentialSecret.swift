import Domain
import Transports

/// What may be known of a credential's file, once it was checked as sending checks it.
struct CredentialSecret {
    let transport: TransportKind
    /// For the database.
    let facts: [String: String]
    /// For a person: what the credential does.
    let summary: String

    /// By the transport's name.
    static let readers: [String: @Sendable (String) throws -> CredentialSecret] = ["fcm": Self.fcm, "apns": Self.apns]

    private static func fcm(_ path: String) throws -> CredentialSecret {
        let file = try FCMKeyFile(path: path)
        return CredentialSecret(
            transport: .fcm, facts: ["project_id": file.projectID, "key_id": file.keyID],
            summary: "sends to project \(file.projectID)")
    }

    private static func apns(_ path: String) throws -> CredentialSecret {
        let file = try APNsKeyFile(path: path)
        let reach = file.environment == "both" ? "production and sandbox" : file.environment
        return CredentialSecret(
            transport: .apns,
            facts: [
                "team_id": file.teamID, "key_id": file.keyID, "topic": file.topic, "environment": file.environment,
            ],
            summary: "sends to \(file.topic), \(reach), with key \(file.keyID)")
    }
}

extension CredentialSecret {
    /// - Throws: `CommandFailure` naming everything that is wrong with the file.
    init(transport: String, path: String) throws {
        guard let read = Self.readers[transport] else {
            throw CommandFailure("transport: '\(transport)' cannot be sent through")
        }
        do { self = try read(path) } catch { throw CommandFailure("file: \(path): \(error)") }
    }
}

import FoundationEssentials

/// Where everything is: what the simulator prints when it answers.
struct Whereabouts: Encodable, Sendable {
    struct Account: Encodable, Sendable {
        let project: String
        let keyFile: String

        enum CodingKeys: String, CodingKey {
            case project
            case keyFile = "key_file"
        }
    }

    struct APNs: Encodable, Sendable {
        let credentialFile: String
        let topic: String
        let production: String
        let sandbox: String

        enum CodingKeys: String, CodingKey {
            case topic, production, sandbox
            case credentialFile = "credential_file"
        }
    }

    let url: String
    let caFile: String
    let accounts: [Account]
    let apns: APNs

    enum CodingKeys: String, CodingKey {
        case url, accounts, apns
        case caFile = "ca_file"
    }

    /// One line for a program.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// One line for a person.
    var text: String {
        let keys = accounts.map { "\($0.project) \($0.keyFile)" }.joined(separator: ", ")
        return "Listening on \(url), authority \(caFile), accounts: \(keys), "
            + "APNs: \(apns.topic) \(apns.credentialFile), sandbox \(apns.sandbox)"
    }
}

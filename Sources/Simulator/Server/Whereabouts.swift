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

    let url: String
    let caFile: String
    let accounts: [Account]

    enum CodingKeys: String, CodingKey {
        case url, accounts
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
        return "Listening on \(url), authority \(caFile), accounts: \(keys)"
    }
}

import Crypto
import Domain
import FoundationEssentials
import HTTP2

extension APNsKey {
    /// Reads a credential file:
    ///
    ///     {"team_id": "A1B2C3D4E5", "key_id": "F6G7H8J9K0", "topic": "example.ferry", "key_file": "AuthKey_F6G7H8J9K0.p8"}
    ///
    /// `private_key` with the PEM text may stand in place of `key_file`. Optional: `environment` (`both`, `production`,
    /// `sandbox`), `production_endpoint`, `sandbox_endpoint`.
    /// - Parameter contents: the text of a file named there, as it is named; nil when it cannot be read.
    /// - Throws: `KeyFileProblems` with every problem, each naming its field and what to do.
    init(parsing file: [UInt8], contents: (String) -> String?) throws {
        var reader = try APNsKeyFileReader(file)
        let teamID = reader.text(.teamID, isValid: APNsKeyFileReader.isID)
        let keyID = reader.text(.keyID, isValid: APNsKeyFileReader.isID)
        let topic = reader.text(.topic, isValid: APNsKeyFileReader.isBundleID)
        let scope = reader.scope()
        let production = reader.endpoint(.productionEndpoint)
        let sandbox = reader.endpoint(.sandboxEndpoint)
        let key = reader.key(keyID: keyID, contents)
        guard reader.problems.isEmpty, let teamID, let keyID, let topic, let key else {
            throw KeyFileProblems(problems: reader.problems)
        }
        self.init(
            teamID: teamID, keyID: keyID, topic: topic, scope: scope, productionEndpoint: production,
            sandboxEndpoint: sandbox, privateKey: key.signing, sealingKey: key.sealing)
    }
}

/// Collects problems while it reads. No value of the file is quoted.
private struct APNsKeyFileReader {
    enum Field: String, CaseIterable {
        case teamID = "team_id"
        case keyID = "key_id"
        case topic
        case keyFile = "key_file"
        case privateKey = "private_key"
        case environment
        case productionEndpoint = "production_endpoint"
        case sandboxEndpoint = "sandbox_endpoint"

        var remedy: String {
            switch self {
            case .teamID: "give the 10-character Team ID of the developer account's membership page"
            case .keyID: "give the 10-character Key ID that the developer account lists beside the key"
            case .topic: "give the app's bundle id, such as example.ferry, without a suffix"
            case .keyFile: "name the .p8 file from the developer account, as a path from this file's folder"
            case .privateKey: "give the text of the .p8 file, with its line breaks as \\n, or name the file as key_file"
            case .environment: "give both, production or sandbox, or leave it out for both"
            case .productionEndpoint, .sandboxEndpoint: "give https://host:port, or leave it out for Apple's own"
            }
        }
    }

    private(set) var problems: [Problem] = []
    private let members: [String: JSONValue]

    init(_ file: [UInt8]) throws {
        guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(file)) else {
            let isKey = String(decoding: file.prefix(32), as: UTF8.self).hasPrefix("-----BEGIN")
            throw KeyFileProblems(problems: [
                Problem(
                    pointer: "", code: "key_file_invalid",
                    message: isKey ? "is the key itself" : "is no JSON object",
                    remedy: #"""
                        write a file such as {"team_id": "A1B2C3D4E5", "key_id": "F6G7H8J9K0", \#
                        "topic": "example.ferry", "key_file": "AuthKey_F6G7H8J9K0.p8"} and name that
                        """#)
            ])
        }
        self.members = members
        let known = Field.allCases.map(\.rawValue)
        for name in members.keys.sorted() where !known.contains(name) {
            problems.append(
                Problem(
                    pointer: "/" + name, code: "key_file_invalid", message: "is unknown",
                    remedy: "remove it or correct its spelling; there are \(known.joined(separator: ", "))"))
        }
    }

    mutating func text(_ field: Field, isValid: (String) -> Bool) -> String? {
        guard case .string(let value)? = members[field.rawValue], !value.isEmpty else {
            report(field, "is missing or no text")
            return nil
        }
        guard isValid(value) else {
            report(field, "does not look like one")
            return nil
        }
        return value
    }

    mutating func scope() -> APNsKey.Scope {
        guard let value = members[Field.environment.rawValue] else { return .both }
        guard case .string(let text) = value, let scope = APNsKey.Scope(rawValue: text) else {
            report(.environment, "is none of Apple's")
            return .both
        }
        return scope
    }

    mutating func endpoint(_ field: Field) -> String? {
        guard members[field.rawValue] != nil else { return nil }
        return text(field) { HTTP2Origin(endpoint: $0) != nil }
    }

    mutating func key(
        keyID: String?, _ contents: (String) -> String?
    ) -> (signing: P256.Signing.PrivateKey, sealing: SymmetricKey)? {
        let isInline = members[Field.privateKey.rawValue] != nil
        if isInline, members[Field.keyFile.rawValue] != nil {
            report(.keyFile, "stands beside private_key", remedy: "keep one of the two")
            return nil
        }
        let field = isInline ? Field.privateKey : .keyFile
        guard let value = text(field, isValid: { _ in true }) else { return nil }
        if !isInline { checkName(value, keyID: keyID) }
        guard let pem = isInline ? value : contents(value) else {
            report(
                field, "does not exist or cannot be read", remedy: "check the path and that this process may read it")
            return nil
        }
        do {
            let signing = try P256.Signing.PrivateKey(pemRepresentation: pem)
            // From the key as OpenSSL writes it: line ends of the file must not make workers disagree.
            let sealing = try HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: Array(signing.pemRepresentation.utf8)),
                info: Array("pushfleet provider token 1".utf8), outputByteCount: 32)
            return (signing, sealing)
        } catch {
            report(field, error.code == .unsupportedKey ? error.context : "holds no unencrypted PEM private key")
            return nil
        }
    }

    /// Apple hands keys out as `AuthKey_<key id>.p8`; a token signed by another key than it names is refused.
    private mutating func checkName(_ path: String, keyID: String?) {
        let name = path.split(separator: "/").last ?? ""
        guard let keyID, name.hasPrefix("AuthKey_"), name.hasSuffix(".p8"), name != "AuthKey_\(keyID).p8" else {
            return
        }
        report(.keyFile, "is named for another key than key_id", remedy: "name the file of that key, or its id")
    }

    private mutating func report(_ field: Field, _ message: String, remedy: String? = nil) {
        problems.append(
            Problem(
                pointer: "/" + field.rawValue, code: "key_file_invalid", message: message,
                remedy: remedy ?? field.remedy))
    }

    static func isID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    /// It becomes part of a header.
    static func isBundleID(_ text: String) -> Bool {
        text.utf8.count <= 155
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

import Crypto
import Domain
import FoundationEssentials

extension ServiceAccount {
    /// Reads the JSON that Firebase's console hands out: Project settings, Service accounts, Generate new private key.
    /// - Throws: `KeyFileProblems` with every problem, each naming its field and what to do.
    init(parsing file: [UInt8]) throws {
        guard let fields = try? JSONDecoder().decode(KeyFile.self, from: Data(file)) else {
            throw KeyFileProblems(problems: [
                Problem(
                    pointer: "", code: "key_file_invalid", message: "is no JSON object", remedy: KeyFile.freshFile)
            ])
        }
        var reader = KeyFileReader(fields)
        reader.checkType()
        let projectID = reader.text("project_id", fields.projectID, isValid: KeyFile.isProjectID)
        let keyID = reader.text("private_key_id", fields.privateKeyID) { _ in true }
        let email = reader.text("client_email", fields.clientEmail) { $0.contains("@") }
        let tokenURI = reader.text("token_uri", fields.tokenURI, isValid: KeyFile.isHTTPS)
        let key = reader.key()
        guard reader.problems.isEmpty, let projectID, let keyID, let email, let tokenURI, let key else {
            throw KeyFileProblems(problems: reader.problems)
        }
        self.init(
            projectID: projectID, clientEmail: email, privateKeyID: keyID, tokenURI: tokenURI,
            privateKey: key.signing, sealingKey: key.sealing)
    }
}

/// The file as it is written; every member may be missing or of another type.
private struct KeyFile: Decodable {
    var type: String?
    var projectID: String?
    var privateKeyID: String?
    var privateKey: String?
    var clientEmail: String?
    var tokenURI: String?

    enum CodingKeys: String, CodingKey {
        case type
        case projectID = "project_id"
        case privateKeyID = "private_key_id"
        case privateKey = "private_key"
        case clientEmail = "client_email"
        case tokenURI = "token_uri"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = try? container.decode(String.self, forKey: .type)
        projectID = try? container.decode(String.self, forKey: .projectID)
        privateKeyID = try? container.decode(String.self, forKey: .privateKeyID)
        privateKey = try? container.decode(String.self, forKey: .privateKey)
        clientEmail = try? container.decode(String.self, forKey: .clientEmail)
        tokenURI = try? container.decode(String.self, forKey: .tokenURI)
    }

    static let freshFile = """
        take the file that the Firebase console hands out under Project settings, Service accounts, \
        Generate new private key
        """

    /// It becomes part of a path: nothing that could leave it (an old id may hold a domain, `example.com:ferry`).
    static func isProjectID(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: ":"):
                true
            default: false
            }
        } && text.utf8.contains { $0 != UInt8(ascii: ".") }
    }

    /// The assertion is worth an hour of sending: it must not travel in the clear.
    static func isHTTPS(_ text: String) -> Bool {
        text.hasPrefix("https://") && text.utf8.count > "https://".utf8.count
            && !text.contains(where: \.isWhitespace)
    }
}

/// Collects problems while it reads.
private struct KeyFileReader {
    private(set) var problems: [Problem] = []
    private let fields: KeyFile

    init(_ fields: KeyFile) { self.fields = fields }

    mutating func checkType() {
        guard fields.type != "service_account" else { return }
        report("type", "is not service_account", KeyFile.freshFile)
    }

    mutating func text(_ field: String, _ value: String?, isValid: (String) -> Bool) -> String? {
        guard let value, !value.isEmpty else {
            report(field, "is missing or no text", KeyFile.freshFile)
            return nil
        }
        guard isValid(value) else {
            report(field, "does not look like one", "restore it as it was in the file from the console")
            return nil
        }
        return value
    }

    mutating func key() -> (signing: RSA.Signing.PrivateKey, sealing: SymmetricKey)? {
        guard let pem = text("private_key", fields.privateKey, isValid: { _ in true }) else { return nil }
        do {
            let signing = try RSA.Signing.PrivateKey(pemRepresentation: pem)
            // From the key as OpenSSL writes it: line ends of the file must not make workers disagree.
            let sealing = try HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: Array(signing.pemRepresentation.utf8)),
                info: Array("pushfleet access token 1".utf8), outputByteCount: 32)
            return (signing, sealing)
        } catch {
            let why = error.code == .unsupportedKey ? error.context : "holds no unencrypted PEM private key"
            report(
                "private_key", why,
                "keep its line breaks as \\n within the JSON text, or generate a new key in the console")
            return nil
        }
    }

    private mutating func report(_ field: String, _ message: String, _ remedy: String) {
        problems.append(Problem(pointer: "/" + field, code: "key_file_invalid", message: message, remedy: remedy))
    }
}

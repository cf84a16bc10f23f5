import Crypto
import Foundation
import Testing

/// The tables of `Fixtures/encrypted-content.json`. Binary values are base64url.
struct EncryptedContentVectors: Decodable {
    struct PushMessage: Decodable {
        let plaintext: String
        let asPrivate: String
        let asPublic: String
        let uaPrivate: String
        let uaPublic: String
        let salt: String
        let authSecret: String
        let rs: Int
        let body: String

        enum CodingKeys: String, CodingKey {
            case plaintext, salt, rs, body
            case asPrivate = "as_private"
            case asPublic = "as_public"
            case uaPrivate = "ua_private"
            case uaPublic = "ua_public"
            case authSecret = "auth_secret"
        }
    }

    struct KeyedMessage: Decodable {
        let id: String
        let ikm: String
        let salt: String
        let rs: Int
        let keyid: String
        let text: String
        let body: String

        enum CodingKeys: String, CodingKey {
            case id, ikm, salt, rs, keyid, body
            case text = "plaintext_text"
        }
    }

    struct Own: Decodable {
        struct Subscriber: Decodable {
            let uaPrivate: String
            let uaPublic: String
            let authSecret: String

            enum CodingKeys: String, CodingKey {
                case uaPrivate = "ua_private"
                case uaPublic = "ua_public"
                case authSecret = "auth_secret"
            }
        }

        struct Size: Decodable, CustomTestStringConvertible {
            let plaintextBytes: Int
            let plaintextSha256: String
            let asPrivate: String?
            let salt: String?
            let bodyBytes: Int?
            let bodySha256: String?

            var testDescription: String { "\(plaintextBytes) bytes" }

            enum CodingKeys: String, CodingKey {
                case plaintextBytes, plaintextSha256, salt, bodyBytes, bodySha256
                case asPrivate = "as_private"
            }
        }

        struct Accepted: Decodable {
            let id: String
            let body: String
            let text: String

            enum CodingKeys: String, CodingKey {
                case id, body
                case text = "plaintext_text"
            }
        }

        struct Refused: Decodable, CustomTestStringConvertible {
            let id: String
            let body: String
            let refusedFor: String
            let uaPrivate: String?
            let authSecret: String?

            var testDescription: String { id }

            enum CodingKeys: String, CodingKey {
                case id, body, refusedFor
                case uaPrivate = "ua_private"
                case authSecret = "auth_secret"
            }
        }

        let subscriber: Subscriber
        let sizes: [Size]
        let accepted: [Accepted]
        let refusedBodies: [Refused]
    }

    struct Keys: Decodable, CustomTestStringConvertible {
        let id: String
        let p256dh: String
        let auth: String
        let expect: String
        let why: String?

        var testDescription: String { id }
    }

    let rfc8291: PushMessage
    let rfc8188: [KeyedMessage]
    let aes128gcm: Own
    let subscriptionKeys: [Keys]

    static let all: EncryptedContentVectors = {
        do {
            guard let root = Bundle.module.url(forResource: "Fixtures", withExtension: nil) else {
                throw CocoaError(.fileNoSuchFile)
            }
            let file = try Data(contentsOf: root.appendingPathComponent("encrypted-content.json"))
            return try JSONDecoder().decode(Self.self, from: file)
        } catch {
            preconditionFailure("the table of vectors cannot be read: \(error)")
        }
    }()
}

/// What a test's base64url text stands for.
func decoded(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }
